import { Module } from '@nestjs/common';
import { UserHasher } from '@stream-events/service';
import { RelayModule } from '../relay/relay.module.js';
import { ChannelChanges } from './channel-changes.repository.js';
import { DeadLettersRepository } from './dead-letters.repository.js';
import { ErasedUsers } from './erased-users.service.js';
import { EventIndexBuilder } from './event-index-builder.service.js';
import { EventWriter } from './event-writer.service.js';
import { EventsRepository } from './events.repository.js';
import { PartitionsRepository } from './partitions.repository.js';
import { StoreMaintenance } from './store-maintenance.service.js';
import { UserHashKey } from './user-hash-key.js';

/**
 * Writes batches of events, and creates the partitions and indexes of `events`. The repository of dead letters is here because the event
 * writer adds dead letters, while dead-letters/ imports the event writer for retries.
 */
@Module({
  imports: [RelayModule],
  providers: [
    ChannelChanges,
    DeadLettersRepository,
    ErasedUsers,
    EventIndexBuilder,
    EventsRepository,
    EventWriter,
    PartitionsRepository,
    StoreMaintenance,
    {
      provide: UserHasher,
      inject: [UserHashKey],
      useFactory: ({ hasher }: UserHashKey) => hasher,
    },
  ],
  exports: [
    ChannelChanges,
    DeadLettersRepository,
    EventIndexBuilder,
    EventsRepository,
    EventWriter,
    PartitionsRepository,
    UserHasher,
  ],
})
export class StoreModule {}
