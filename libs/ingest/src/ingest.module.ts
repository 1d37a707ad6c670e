import { Module, type DynamicModule } from '@nestjs/common';
import type { NatsOptions } from '@stream-events/messaging';
import { EventIngest } from './event-ingest.service.js';
import { INGEST_OPTIONS, type IngestOptions } from './ingest-options.js';
import { IngestPublisher } from './ingest-publisher.js';
import { PlatformIngest } from './platform-ingest.service.js';

/**
 * Makes `EventIngest` and `PlatformIngest` injectable in all features of a service. The service must provide `ShellModule` and a
 * `RequestClient`, and must connect and close the `IngestPublisher`.
 */
@Module({})
export class IngestModule {
  static register(nats: NatsOptions, options: IngestOptions): DynamicModule {
    return {
      module: IngestModule,
      global: true,
      providers: [
        { provide: IngestPublisher, useValue: new IngestPublisher(nats) },
        { provide: INGEST_OPTIONS, useValue: options },
        EventIngest,
        PlatformIngest,
      ],
      exports: [EventIngest, IngestPublisher, PlatformIngest],
    };
  }
}
