import { Module } from '@nestjs/common';
import { RelayModule } from '../relay/relay.module.js';
import { DeadLettersRepository } from './dead-letters.repository.js';
import { EventWriter } from './event-writer.service.js';
import { EventsRepository } from './events.repository.js';
import { PartitionsRepository } from './partitions.repository.js';
import { StoreMaintenance } from './store-maintenance.service.js';

@Module({
  imports: [RelayModule],
  providers: [DeadLettersRepository, EventsRepository, EventWriter, PartitionsRepository, StoreMaintenance],
  exports: [DeadLettersRepository, EventWriter],
})
export class StoreModule {}
