import { Module, type DynamicModule } from '@nestjs/common';
import { StreamPublisher } from '@stream-events/messaging';
import { ShellModule, type Shell } from '@stream-events/service';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { IngestController } from './ingest/ingest.controller.js';
import { IngestDrain } from './ingest/ingest-drain.service.js';
import { IngestStream } from './ingest/ingest-stream.js';
import { IntakeStream } from './ingest/intake-stream.js';
import { EventWriter } from './ingest/event-writer.service.js';
import { DeadLettersRepository } from './dead-letters/dead-letters.repository.js';
import { DeadLettersController } from './dead-letters/dead-letters.controller.js';
import { DeadLettersService } from './dead-letters/dead-letters.service.js';
import { EventListRepository } from './reading/event-list.repository.js';
import { ReadingController } from './reading/reading.controller.js';
import { EventsStream } from './relay/events-stream.js';
import { OutboxRepository } from './relay/outbox.repository.js';
import { Relay } from './relay/relay.service.js';
import { StreamCheck } from './relay/stream-check.service.js';
import { StreamRecordRepository } from './relay/stream-record.repository.js';
import { StreamWatch } from './relay/stream-watch.service.js';
import { EventsRepository } from './store/events.repository.js';
import { PartitionsRepository } from './store/partitions.repository.js';
import { StoreMaintenance } from './store/store-maintenance.service.js';

/** What is connected before the module is made. */
export interface EventsConnections {
  dataSource: DataSource;
  /** For writing batches, apart from everything else that asks the database: no list can keep a write waiting. */
  writePool: Pool;
  publisher: StreamPublisher;
  stream: EventsStream;
  ingestStream: IngestStream;
  intakeStream: IntakeStream;
}

@Module({})
export class EventsModule {
  static register(
    shell: Shell<unknown>,
    { dataSource, writePool, publisher, stream, ingestStream, intakeStream }: EventsConnections,
  ): DynamicModule {
    return {
      module: EventsModule,
      imports: [ShellModule.register(shell)],
      controllers: [IngestController, DeadLettersController, ReadingController],
      providers: [
        { provide: DataSource, useValue: dataSource },
        { provide: Pool, useValue: writePool },
        { provide: EventsStream, useValue: stream },
        { provide: StreamPublisher, useValue: publisher },
        { provide: IngestStream, useValue: ingestStream },
        { provide: IntakeStream, useValue: intakeStream },
        EventListRepository,
        EventsRepository,
        IngestDrain,
        EventWriter,
        OutboxRepository,
        DeadLettersRepository,
        DeadLettersService,
        PartitionsRepository,
        Relay,
        StoreMaintenance,
        StreamCheck,
        StreamRecordRepository,
        StreamWatch,
      ],
    };
  }
}
