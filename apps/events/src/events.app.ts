import { NestFactory } from '@nestjs/core';
import type { INestMicroservice } from '@nestjs/common';
import {
  discardDeadLetter,
  getEvent,
  getDeadLetter,
  listEvents,
  listDeadLetters,
  retryDeadLetter,
  storeEvents,
} from '@stream-events/contracts';
import { claimStoreFor, connectDatabase, createPool, toUnavailable } from '@stream-events/database';
import {
  closeNats,
  connectNats,
  ErrorResponder,
  natsConnectionOptions,
  NatsServerStrategy,
  StreamPublisher,
} from '@stream-events/messaging';
import { platformVariables } from '@stream-events/platforms';
import {
  adminPort,
  closeAll,
  defineService,
  integer,
  NestLogger,
  sharedVariables,
  type ConfigOf,
  type Shell,
} from '@stream-events/service';
import { EventsModule } from './events.module.js';
import { IngestDrain } from './ingest/ingest-drain.service.js';
import { IngestStream } from './ingest/ingest-stream.js';
import { IntakeStream } from './ingest/intake-stream.js';
import { CreateEventStore1763700000000 } from './migrations/1763700000000-create-event-store.js';
import { RetainPublishedBatches1763740000000 } from './migrations/1763740000000-retain-published-batches.js';
import { IndexParkedMessages1764100000000 } from './migrations/1764100000000-index-parked-messages.js';
import { KeepTimeOfOccurrence1764190000000 } from './migrations/1764190000000-keep-time-of-occurrence.js';
import { RenameParkedMessages1766000000000 } from './migrations/1766000000000-rename-parked-messages.js';
import { DeadLetter } from './dead-letters/dead-letter.entity.js';
import { EventsStream } from './relay/events-stream.js';
import { OutboxEntry } from './relay/outbox-entry.entity.js';
import { PublishedBatch } from './relay/published-batch.entity.js';
import { Relay } from './relay/relay.service.js';
import { StreamWatch } from './relay/stream-watch.service.js';
import { Event } from './store/event.entity.js';
import { ReceivedMessage } from './store/received-message.entity.js';
import { StoreMaintenance } from './store/store-maintenance.service.js';

const variables = {
  HOST: sharedVariables.HOST,
  ADMIN_PORT: adminPort(9001),
  DATABASE_URL: sharedVariables.DATABASE_URL,
  NATS_URL: sharedVariables.NATS_URL,
  PLATFORM: platformVariables.PLATFORM,
  EVENTS_MAX_AGE_DAYS: integer('Days that events stay on the EVENTS stream', [1, 365], { default: 7 }),
  EVENTS_MAX_GB: integer(
    'Size of the EVENTS stream in GiB; beyond it the oldest events leave the stream (not the store)',
    [1, 10_000],
    { default: 8 },
  ),
  INGEST_MAX_GB: integer(
    'Size of the INGEST stream in GiB, where platform messages wait while they cannot be stored; beyond it they are refused',
    [1, 10_000],
    { default: 2 },
  ),
  LOG_LEVEL: sharedVariables.LOG_LEVEL,
};

type EventsConfig = ConfigOf<typeof variables>;

// More writers at once only wait for each other's locks and commits.
const writeConnections = 4;

/** The contracts that the events service answers. */
const servedContracts = [
  storeEvents,
  listEvents,
  getEvent,
  listDeadLetters,
  getDeadLetter,
  retryDeadLetter,
  discardDeadLetter,
];

/** What the events service keeps in its own schema. */
export const schema = {
  name: 'events',
  entities: [Event, OutboxEntry, DeadLetter, PublishedBatch, ReceivedMessage],
  migrations: [
    CreateEventStore1763700000000,
    RetainPublishedBatches1763740000000,
    IndexParkedMessages1764100000000,
    KeepTimeOfOccurrence1764190000000,
    RenameParkedMessages1766000000000,
  ],
};

// For the benchmark, whose raw ceiling writes the same rows by the same statement.
export { PartitionsRepository } from './store/partitions.repository.js';
export { toRow, writeBatch, type EventRow } from './store/write-batch.js';

/** The events service: takes batches in, stores them, lists them, and brings them to the EVENTS stream. */
export const events = defineService({ name: 'events', variables, start });

async function start(shell: Shell<EventsConfig>) {
  const { config, logger, health } = shell;
  const nats = { urls: config.NATS_URL, name: 'events' };
  const database = { url: config.DATABASE_URL, schema: schema.name, applicationName: 'events' };
  const { entities, migrations } = schema;
  const dataSource = await connectDatabase({ ...database, entities, migrations, poolSize: 10 });
  const writePool = createPool({ ...database, poolSize: writeConnections });
  await claimStoreFor(config.PLATFORM, dataSource);
  const eventsNats = { ...nats, name: 'events-relay', account: 'EVENTS' } as const;
  const relayConnection = await connectNats(eventsNats);
  const stream = await EventsStream.open(relayConnection, {
    platform: config.PLATFORM,
    maxAgeDays: config.EVENTS_MAX_AGE_DAYS,
    maxGigabytes: config.EVENTS_MAX_GB,
  });
  const ingestConnection = await connectNats({ ...nats, name: 'events-ingest' });
  const ingestStream = new IngestStream(ingestConnection, {
    platform: config.PLATFORM,
    maxGigabytes: config.INGEST_MAX_GB,
  });
  const intakeStream = new IntakeStream(ingestConnection, { platform: config.PLATFORM }, logger);
  // INTAKE first: it leaves the broker's reserved disk space to INGEST.
  await intakeStream.ensure();
  await ingestStream.ensure();

  const publisher = new StreamPublisher(relayConnection, natsConnectionOptions(eventsNats));
  const strategy = new NatsServerStrategy({ ...nats, queue: 'events', contracts: servedContracts });
  const app: INestMicroservice = await NestFactory.createMicroservice(
    EventsModule.register(shell, { dataSource, writePool, publisher, stream, ingestStream, intakeStream }),
    {
      strategy,
      logger: new NestLogger(logger),
      abortOnError: false,
    },
  );
  app.useGlobalFilters(new ErrorResponder(logger, toUnavailable));
  await app.get(StoreMaintenance).start();
  await app.get(StreamWatch).start();
  app.get(Relay).start();
  app.get(IngestDrain).start();
  await app.listen();

  health.register('events database', async () => {
    await dataSource.query('SELECT 1');
  });
  health.register('events nats', () => strategy.ping());
  health.register('events relay', () => app.get(Relay).check());
  return {
    // Nothing more comes in; what was stored is published; then the connections.
    close: () =>
      closeAll([
        () => app.close(),
        () => app.get(IngestDrain).stop(),
        () => app.get(StoreMaintenance).stop(),
        () => app.get(Relay).stop(),
        () => app.get(StreamWatch).stop(),
        () => publisher.close(),
        () => Promise.all([closeNats(relayConnection), closeNats(ingestConnection)]),
        () => writePool.end(),
        () => dataSource.destroy(),
      ]),
  };
}
