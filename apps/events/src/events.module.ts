import { Module, type DynamicModule, type ValueProvider } from '@nestjs/common';
import { ShellModule, type Shell } from '@stream-events/service';
import { DeadLettersModule } from './dead-letters/dead-letters.module.js';
import { EventExportModule } from './event-export/event-export.module.js';
import { ErasureModule } from './erasure/erasure.module.js';
import { EventListModule } from './event-list/event-list.module.js';
import { IngestStorageModule } from './ingest/ingest-storage.module.js';
import { RetentionModule } from './retention/retention.module.js';
import { StreamSummariesModule } from './stream-summaries/stream-summaries.module.js';

/** Lists the features. `StoreModule` and `RelayModule` are not in the list, because the features import them. */
@Module({})
export class EventsModule {
  /** @param connections provided to all modules; the service opens them before it creates the modules */
  static register(shell: Shell<unknown>, connections: readonly ValueProvider[]): DynamicModule {
    const shared = ShellModule.register(shell, connections);
    return {
      module: EventsModule,
      imports: [
        shared,
        IngestStorageModule,
        EventListModule,
        EventExportModule,
        StreamSummariesModule,
        DeadLettersModule,
        RetentionModule,
        ErasureModule,
      ],
    };
  }
}
