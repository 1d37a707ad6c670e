import { Module, type DynamicModule } from '@nestjs/common';
import { ShellModule, type Shell } from '@stream-events/service';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { IntakeController } from './intake/intake.controller.js';
import { IntakeDrain } from './intake/intake-drain.service.js';
import { IntakeStream } from './intake/intake-stream.js';
import { IntakeService } from './intake/intake.service.js';
import { ParkedMessagesRepository } from './parking/parked-messages.repository.js';
import { ParkingController } from './parking/parking.controller.js';
import { ParkingService } from './parking/parking.service.js';
import { EventListRepository } from './reading/event-list.repository.js';
import { ReadingController } from './reading/reading.controller.js';
import { EventsStream } from './relay/events-stream.js';
import { OutboxRepository } from './relay/outbox.repository.js';
import { Relay } from './relay/relay.service.js';
import { StreamCheck } from './relay/stream-check.service.js';
import { StreamPublisher } from './relay/stream-publisher.js';
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
  intakeStream: IntakeStream;
}

@Module({})
export class EventsModule {
  static register(
    shell: Shell<unknown>,
    { dataSource, writePool, publisher, stream, intakeStream }: EventsConnections,
  ): DynamicModule {
    return {
      module: EventsModule,
      imports: [ShellModule.register(shell)],
      controllers: [IntakeController, ParkingController, ReadingController],
      providers: [
        { provide: DataSource, useValue: dataSource },
        { provide: Pool, useValue: writePool },
        { provide: EventsStream, useValue: stream },
        { provide: StreamPublisher, useValue: publisher },
        { provide: IntakeStream, useValue: intakeStream },
        EventListRepository,
        EventsRepository,
        IntakeDrain,
        IntakeService,
        OutboxRepository,
        ParkedMessagesRepository,
        ParkingService,
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
