import { Module } from '@nestjs/common';
import { RelayModule } from '../relay/relay.module.js';
import { DeadLettersRepository } from './dead-letters.repository.js';
import { EventWriter } from './event-writer.service.js';
import { EventsRepository } from './events.repository.js';
import { PartitionsRepository } from './partitions.repository.js';
import { StoreMaintenance } from './store-maintenance.service.js';

/**
 * The store: writes batches of events, and creates the partitions of `events`. The repository of dead letters is here, because the
 * event writer adds dead letters, and dead-letters/ imports the event writer to retry them.
 */
@Module({
  imports: [RelayModule],
  providers: [DeadLettersRepository, EventsRepository, EventWriter, PartitionsRepository, StoreMaintenance],
  exports: [DeadLettersRepository, EventWriter],
})
export class StoreModule {}
