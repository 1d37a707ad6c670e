import type { INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  checkPublished,
  createErasure,
  discardDeadLetter,
  exportEvents,
  getDeadLetter,
  getErasure,
  getEvent,
  listDeadLetters,
  listErasedUsers,
  listErasures,
  listEvents,
  retryDeadLetter,
  storeEventBatch,
  summarizeStream,
  wereMessagesErased,
} from '@stream-events/contracts';
import {
  claimStoreFor,
  connectDatabase,
  createPool,
  KeyRotation,
  MaintenanceSessions,
  measurePool,
  migrateDatabase,
  toUnavailable,
} from '@stream-events/database';
import {
  closeNats,
  connectNats,
  ConsumerGate,
  ErrorResponder,
  InstanceReporter,
  isClustered,
  natsConnectionOptions,
  NatsServerStrategy,
  RequestClient,
  StreamPublisher,
} from '@stream-events/messaging';
import {
  closeAll,
  defineService,
  FailureLog,
  NestLogger,
  SecretBox,
  type Logger,
  type Shell,
} from '@stream-events/service';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { variables, type EventsConfig } from './events.config.js';
import { ErasureRunner } from './erasure/erasure-runner.service.js';
import { schema } from './events.database.js';
import { EventStatistics } from './event-list/event-statistics.js';
import { LIST_POOL, listPoolOptions } from './event-list/list-pool.js';
import { EventsModule } from './events.module.js';
import { IngestDrain } from './ingest/ingest-drain.service.js';
import { IngestStream } from './ingest/ingest-stream.js';
import { EventsStream } from './relay/events-stream.js';
import { Relay } from './relay/relay.service.js';
import { StreamWatch } from './relay/stream-watch.service.js';
import { Retention } from './retention/retention.service.js';
import { StreamTrimmer } from './retention/stream-trimmer.service.js';
import { RetentionPolicy } from './store/retention-policy.js';
import { ErasedUsers } from './store/erased-users.service.js';
import { EventIndexBuilder } from './store/event-index-builder.service.js';
import { StoreMaintenance } from './store/store-maintenance.service.js';
import { UserHashKey } from './store/user-hash-key.js';
import { SummaryMaintenance } from './stream-summaries/summary-maintenance.service.js';
import { eventsMetrics } from './metrics.js';

// Maximum number of connections for writes. More connections would only contend for locks and commits.
const writeConnections = 4;

const servedContracts = [
  storeEventBatch,
  listEvents,
  getEvent,
  exportEvents,
  summarizeStream,
  checkPublished,
  listDeadLetters,
  getDeadLetter,
  retryDeadLetter,
  discardDeadLetter,
  createErasure,
  getErasure,
  listErasures,
  listErasedUsers,
  wereMessagesErased,
];

/** The events service: stores events, lists them, and publishes them to the EVENTS stream. */
export const events = defineService({
  name: 'events',
  variables,
  migrate: ({ DATABASE_URL: url }) => migrateDatabase(databaseAt(url)),
  start,
});

async function start(shell: Shell<EventsConfig>) {
  const { config, logger, health } = shell;
  const nats = { urls: config.NATS_URL, name: 'events', tracing: shell.tracing };
  const { entities, migrations, ...database } = databaseAt(config.DATABASE_URL);
  const dataSource = await connectDatabase({ ...database, entities, migrations, poolSize: 10 });
  // A separate pool for writes, so that lists cannot hold up a write.
  const writePool = createPool({ ...database, poolSize: writeConnections });
  const listPool = createPool({ ...database, ...listPoolOptions });
  // Open one connection in each of the two pools before the service is ready, so that the first requests need not wait. If opening
  // one fails, the first requests open the connections.
  await Promise.allSettled([writePool, listPool].map((pool) => pool.query('SELECT 1')));
  measurePool(shell.metrics, 'events', dataSource);
  measurePool(shell.metrics, 'events_writes', writePool);
  measurePool(shell.metrics, 'events_lists', listPool);
  await claimStoreFor(config.PLATFORM, dataSource);
  const rotation = new KeyRotation({
    ...encrypted(dataSource, config.SECRET_KEY),
    logger,
    metrics: shell.metrics,
  });
  await rotation.start();
  const hashKey = await UserHashKey.load(dataSource, config.SECRET_KEY);
  const retention = new RetentionPolicy(config.RETENTION_DAYS);
  eventsMetrics.events_retention_days.create(shell.metrics).set(retention.days);
  const eventsNats = { ...nats, name: 'events-relay', account: 'EVENTS' } as const;
  const relayConnection = await connectNats(eventsNats);
  const replicas = config.NATS_REPLICAS || undefined;
  if (replicas === undefined && isClustered(relayConnection))
    logger.warn(
      'NATS is a cluster, but NATS_REPLICAS is not set: a new stream is stored on one server, and is unavailable while that server is down. Set NATS_REPLICAS=3',
    );
  const stream = await EventsStream.open(relayConnection, {
    replicas,
    platform: config.PLATFORM,
    maxAgeMs: retention.limitStreamAge(config.EVENTS_MAX_AGE_DAYS),
    maxGigabytes: config.EVENTS_MAX_GB,
  });
  const ingestConnection = await connectNats({ ...nats, name: 'events-ingest' });
  const ingestStream = new IngestStream(ingestConnection, {
    platform: config.PLATFORM,
    maxGigabytes: config.INGEST_MAX_GB,
    replicas,
  });

  const client = new RequestClient({
    ...nats,
    name: 'events-client',
    metrics: { registry: shell.metrics, app: 'events' },
  });
  await client.connect();
  const publisher = new StreamPublisher(relayConnection, natsConnectionOptions(eventsNats));
  const strategy = new NatsServerStrategy({
    ...nats,
    queue: 'events',
    contracts: servedContracts,
    metrics: shell.metrics,
  });
  const app: INestMicroservice = await NestFactory.createMicroservice(
    EventsModule.register(shell, [
      { provide: DataSource, useValue: dataSource },
      { provide: Pool, useValue: writePool },
      { provide: LIST_POOL, useValue: listPool },
      { provide: MaintenanceSessions, useValue: new MaintenanceSessions(database) },
      { provide: RetentionPolicy, useValue: retention },
      { provide: UserHashKey, useValue: hashKey },
      { provide: EventsStream, useValue: stream },
      { provide: StreamPublisher, useValue: publisher },
      { provide: IngestStream, useValue: ingestStream },
      { provide: RequestClient, useValue: client },
    ]),
    { strategy, logger: new NestLogger(logger), abortOnError: false },
  );
  app.useGlobalFilters(new ErrorResponder(logger, toUnavailable));
  await ingestStream.prepare();
  await app.get(StoreMaintenance).start();
  await app.get(EventIndexBuilder).start();
  await app.get(EventStatistics).start();
  await app.get(StreamWatch).start();
  app.get(SummaryMaintenance).start();
  app.get(Relay).start();
  app.get(IngestDrain).start();
  app.get(Retention).start();
  app.get(StreamTrimmer).start();
  app.get(ErasedUsers).start();
  await app.listen();
  const gate = new ConsumerGate({
    services: ingestConnection,
    events: relayConnection,
    log: new FailureLog(logger),
  });
  gate.start();
  app.get(ErasureRunner).start();
  const reporter = new InstanceReporter(client, shell, {
    service: 'events',
    measures: {
      events_stored_per_second: {
        metric: 'events_ingest_total',
        labels: { outcome: 'stored' },
        isRate: true,
      },
      outbox_overdue_seconds: { metric: 'events_outbox_overdue_seconds' },
      database_bytes: { metric: 'events_database_bytes' },
      events_stream_bytes: { metric: 'events_stream_bytes' },
      ingest_stream_bytes: { metric: 'events_ingest_stream_bytes' },
    },
  });
  reporter.start();

  health.register('events database', async () => {
    await dataSource.query('SELECT 1');
  });
  health.register('events nats', () => strategy.ping());
  health.register('events relay', () => app.get(Relay).check());
  return {
    // Stop receiving before the relay publishes its remaining batches. Close the connections last, because the other parts use them.
    close: () =>
      closeAll([
        () => reporter.stop(),
        () => app.get(ErasureRunner).stop(),
        () => app.close(),
        () => gate.stop(),
        () => app.get(IngestDrain).stop(),
        () => app.get(StoreMaintenance).stop(),
        () => app.get(EventIndexBuilder).stop(),
        () => app.get(EventStatistics).stop(),
        () => app.get(Retention).stop(),
        () => app.get(StreamTrimmer).stop(),
        () => app.get(SummaryMaintenance).stop(),
        () => app.get(Relay).stop(),
        () => app.get(StreamWatch).stop(),
        () => app.get(ErasedUsers).stop(),
        () => rotation.stop(),
        () => publisher.close(),
        () => client.close(),
        () => Promise.all([closeNats(relayConnection), closeNats(ingestConnection)]),
        () => Promise.all([writePool.end(), listPool.end()]),
        () => dataSource.destroy(),
      ]),
  };
}

function databaseAt(url: string) {
  const { name, entities, migrations } = schema;
  return { url, schema: name, applicationName: 'events', entities, migrations };
}

/** Tells `KeyRotation` which values are encrypted with `SECRET_KEY`. */
function encrypted(dataSource: DataSource, secretKeys: readonly string[]) {
  return {
    schema: schema.name,
    columns: schema.encryptedColumns,
    dataSource,
    box: new SecretBox(secretKeys),
  };
}

/** Encrypts every stored secret with the first of `secretKeys`, and returns how many there were. Call this only while no service runs. */
export async function reencryptEvents(
  databaseUrl: string,
  secretKeys: string[],
  logger: Logger,
): Promise<number> {
  const dataSource = await connectDatabase({ ...databaseAt(databaseUrl), poolSize: 2 });
  try {
    return await new KeyRotation({ ...encrypted(dataSource, secretKeys), logger }).runOnce();
  } finally {
    await dataSource.destroy();
  }
}
