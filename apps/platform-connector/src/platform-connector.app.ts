import { NestFactory } from '@nestjs/core';
import type { INestMicroservice } from '@nestjs/common';
import {
  callPlatform,
  completeConnection,
  connectorStoredUsers,
  getConnection,
  getPicture,
  getPlatformStatus,
  getStreamerEventTypes,
  listAlarms,
  listChannelConsent,
  listConnections,
  listEventTypes,
  listSubscriptions,
  lookUpStreams,
  lookUpUsers,
  reconcileSubscriptions,
  removeConnection,
  reportAlarms,
  setEventType,
  setStreamerEventTypes,
  startConnection,
  type Contract,
} from '@stream-events/contracts';
import {
  claimStoreFor,
  connectDatabase,
  KeyRotation,
  measurePool,
  migrateDatabase,
} from '@stream-events/database';
import { IngestPublisher } from '@stream-events/ingest';
import {
  closeNats,
  connectNats,
  ErrorResponder,
  InstanceReporter,
  NatsServerStrategy,
  RequestClient,
} from '@stream-events/messaging';
import {
  Alarms,
  closeAll,
  defineService,
  NestLogger,
  SecretBox,
  type Logger,
  type Shell,
} from '@stream-events/service';
import type { DataSource } from 'typeorm';
import { AlarmChecks } from './alarm-checks/alarm-checks.service.js';
import { InstanceAlarms } from './alarm-checks/instance-alarms.service.js';
import { AlarmPoster } from './alarms/alarm-poster.service.js';
import { alarmTimes } from './alarms/alarm-times.js';
import { ShardKeeper } from './conduits/shard-keeper.service.js';
import { ConnectionUpkeep } from './connections/connection-upkeep.service.js';
import { ConnectionsService } from './connections/connections.service.js';
import { ConsentEventsConsumer } from './connections/consent-events.consumer.js';
import { UserTokens } from './connections/user-tokens.service.js';
import { EventTypesService } from './event-types/event-types.service.js';
import { PictureDownloads } from './pictures/picture-downloads.service.js';
import { variables, type PlatformConnectorConfig } from './platform-connector.config.js';
import { schema } from './platform-connector.database.js';
import { PlatformConnectorModule } from './platform-connector.module.js';
import { PlatformHttp } from './platform/platform-http.js';
import { toReplyError } from './platform/unavailable-error.js';
import { Reconciler } from './reconciliation/reconciler.service.js';
import { RevocationsConsumer } from './revocations/revocations.consumer.js';
import { DeliveryGaps } from './sockets/delivery-gaps.service.js';
import { SocketIngest } from './sockets/socket-ingest.service.js';
import { UserSockets } from './user-sockets/user-sockets.service.js';

export { alarmTimes };

export const servedContracts: readonly Contract<object, object>[] = [
  callPlatform,
  completeConnection,
  connectorStoredUsers.list,
  connectorStoredUsers.erase,
  getConnection,
  getPicture,
  getPlatformStatus,
  getStreamerEventTypes,
  listAlarms,
  listChannelConsent,
  listConnections,
  listEventTypes,
  listSubscriptions,
  lookUpStreams,
  lookUpUsers,
  reconcileSubscriptions,
  removeConnection,
  reportAlarms,
  setEventType,
  setStreamerEventTypes,
  startConnection,
];

/** The only service that calls the platform. */
export const platformConnector = defineService({
  name: 'platform-connector',
  variables,
  migrate: ({ DATABASE_URL: url }) => migrateDatabase(databaseAt(url)),
  start: (shell) => startPlatformConnector(shell),
});

/** Starts a platform connector. Tests pass shorter alarm times. */
export async function startPlatformConnector(shell: Shell<PlatformConnectorConfig>, times = alarmTimes) {
  const { config, logger, health } = shell;
  const nats = { urls: config.NATS_URL, name: 'platform-connector', tracing: shell.tracing };
  const dataSource = await connect(config.DATABASE_URL, 10);
  measurePool(shell.metrics, 'platform_connector', dataSource);
  await claimStoreFor(config.PLATFORM, dataSource);
  const rotation = new KeyRotation({
    ...encrypted(dataSource, config.SECRET_KEY),
    logger,
    metrics: shell.metrics,
  });
  await rotation.start();
  const client = new RequestClient({
    ...nats,
    name: 'platform-connector-client',
    metrics: { registry: shell.metrics, app: 'platform-connector' },
  });
  await client.connect();
  const connection = await connectNats({ ...nats, name: 'platform-connector-events', account: 'EVENTS' });
  const strategy = new NatsServerStrategy({
    ...nats,
    queue: 'platform-connector',
    contracts: servedContracts,
    metrics: shell.metrics,
  });
  const app: INestMicroservice = await NestFactory.createMicroservice(
    PlatformConnectorModule.register(shell, { dataSource, client, connection }, times),
    { strategy, logger: new NestLogger(logger), abortOnError: false },
  );
  app.useGlobalFilters(new ErrorResponder(logger, toReplyError));
  await app.get(EventTypesService).start();
  await app.get(IngestPublisher).connect();
  app.get(DeliveryGaps).start();
  const alarmParts = [Alarms, AlarmPoster, InstanceAlarms, AlarmChecks].map((part) => app.get(part));
  const background = [
    Reconciler,
    RevocationsConsumer,
    ConsentEventsConsumer,
    ConnectionUpkeep,
    ShardKeeper,
    UserSockets,
  ].map((part) => app.get(part));
  for (const part of background) await part.start();
  for (const part of alarmParts) part.start();
  await app.listen();
  const reporter = new InstanceReporter(client, shell, {
    service: 'platform-connector',
    measures: { platform_budget_calls: { metric: 'platform_connector_budget_calls' } },
  });
  reporter.start();

  health.register('platform connector database', async () => {
    await dataSource.query('SELECT 1');
  });
  health.register('platform connector nats', () => strategy.ping());
  return {
    connections: app.get(ConnectionsService),
    // In this order: stop accepting requests, finish background work, close connections.
    close: () =>
      closeAll([
        () => reporter.stop(),
        () => app.close(),
        () => Promise.all(background.map((part) => part.stop())),
        () => Promise.all(alarmParts.map((part) => part.stop())),
        () => app.get(SocketIngest).stop(),
        () => app.get(DeliveryGaps).stop(),
        () => app.get(IngestPublisher).close(),
        () => app.get(UserTokens).stop(),
        () => app.get(PlatformHttp).close(),
        () => app.get(PictureDownloads).close(),
        () => closeNats(connection),
        () => client.close(),
        () => rotation.stop(),
        () => dataSource.destroy(),
      ]),
  };
}

function connect(url: string, poolSize: number): Promise<DataSource> {
  return connectDatabase({ ...databaseAt(url), poolSize });
}

function databaseAt(url: string) {
  const { name, entities, migrations } = schema;
  return { url, schema: name, applicationName: 'platform-connector', entities, migrations };
}

function encrypted(dataSource: DataSource, secretKeys: readonly string[]) {
  return {
    schema: schema.name,
    columns: schema.encryptedColumns,
    dataSource,
    box: new SecretBox(secretKeys),
  };
}

/**
 * Re-encrypts every stored secret with the first of `secretKeys`, and returns the number of secrets. Call this only while no service is
 * running.
 */
export async function reencryptPlatformConnector(
  databaseUrl: string,
  secretKeys: string[],
  logger: Logger,
): Promise<number> {
  const dataSource = await connect(databaseUrl, 2);
  try {
    return await new KeyRotation({ ...encrypted(dataSource, secretKeys), logger }).runOnce();
  } finally {
    await dataSource.destroy();
  }
}
