import { setTimeout as wait } from 'node:timers/promises';
import type { INestMicroservice } from '@nestjs/common';
import { NestMicroservice } from '@nestjs/microservices';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { KeyRotation, measurePool, toUnavailable } from '@stream-events/database';
import {
  connectionReportSubject,
  gatewayStoredUsers,
  instanceReportSubject,
  type Contract,
} from '@stream-events/contracts';
import { IngestPublisher } from '@stream-events/ingest';
import {
  ErrorResponder,
  InstanceReporter,
  NatsServerStrategy,
  RequestClient,
} from '@stream-events/messaging';
import {
  Alarms,
  closeAll,
  createLogger,
  defineService,
  SecretBox,
  type Logger,
  type Shell,
} from '@stream-events/service';
import type { DataSource } from 'typeorm';
import { AccessControl } from './access/access-control.service.js';
import { DiskSpace } from './access/disk-space.service.js';
import { serveStreamDescription } from './api-description/async-api.js';
import { serveApiDescription } from './api-description/open-api.js';
import { EventExports } from './event-export/event-exports.service.js';
import { variables, type GatewayConfig } from './gateway.config.js';
import { connectGatewayDatabase, migrateGatewayDatabase, schema } from './gateway.database.js';
import { GatewayModule } from './gateway.module.js';
import { createHttpApp } from './http/http-app.js';
import { WebSockets } from './live/transports/web-sockets.service.js';
import { LiveConnections } from './live/connections/live-connections.service.js';
import { NamedConnections } from './live/connections/named-connections.js';
import { ErasureWatch } from './live/stream/erasure-watch.service.js';
import { EventFeed } from './live/stream/event-feed.service.js';
import { EventsStreamClient } from './live/stream/events-stream-client.js';
import { enableStaticFiles } from './pages/static-files.js';
import { CompletedConnections } from './platform/completed-connections.service.js';
import { RehearsalRunner } from './rehearsals/rehearsal-runner.service.js';
import { ReplayChannel } from './replays/replay-channel.js';
import { ReplayRunner } from './replays/replay-runner.service.js';
import { Seeds } from './seeds/seeds.service.js';
import { StorageLimits } from './storage/storage-limits.service.js';
import { InstanceBoard } from './system/instance-board.js';
import { checkOwnerVariables, createFirstOwner } from './users/first-owner.js';
import { recoverOwner, type RecoveredOwner } from './users/owner-recovery.js';
import { UsersService } from './users/users.service.js';
import { WebhookRoute } from './webhook/webhook-route.js';

const servedContracts: readonly Contract<object, object>[] = [
  gatewayStoredUsers.list,
  gatewayStoredUsers.erase,
];

/** The gateway service, the public edge. `start` returns the address, and the first owner's name and main token if it created the owner. */
export const gateway = defineService({
  name: 'gateway',
  variables,
  migrate: migrateGatewayDatabase,
  commands: { 'reset-owner': resetOwnerOnTerminal },
  start,
});

async function start(shell: Shell<GatewayConfig>) {
  const { config, logger, health } = shell;
  checkOwnerVariables(config);
  const dataSource = await connectGatewayDatabase(config.DATABASE_URL);
  measurePool(shell.metrics, 'gateway', dataSource);
  const rotation = new KeyRotation({
    ...encrypted(dataSource, config.SECRET_KEY),
    logger,
    metrics: shell.metrics,
  });
  await rotation.start();
  const app = await createHttpApp(GatewayModule.register(shell, dataSource), shell);
  app.get(AccessControl).watch(app.getHttpAdapter().getInstance());
  app.get(DiskSpace).watch(app.getHttpAdapter().getInstance());
  app.get(StorageLimits).watch(app.getHttpAdapter().getInstance());
  const strategy = new NatsServerStrategy({
    urls: config.NATS_URL,
    name: 'gateway-requests',
    queue: 'gateway',
    contracts: servedContracts,
    metrics: shell.metrics,
    tracing: shell.tracing,
  });
  connectStrategy(app, strategy).useGlobalFilters(new ErrorResponder(logger, toUnavailable));
  const client = app.get(RequestClient);
  const ingestPublisher = app.get(IngestPublisher);
  const eventsStream = app.get(EventsStreamClient);
  const feed = app.get(EventFeed);
  const erasures = app.get(ErasureWatch);
  const live = app.get(LiveConnections);
  const webSockets = app.get(WebSockets);
  const replayChannel = app.get(ReplayChannel);
  const replays = app.get(ReplayRunner);
  const named = app.get(NamedConnections);
  const rehearsals = app.get(RehearsalRunner);
  const board = app.get(InstanceBoard);
  const alarms = app.get(Alarms);
  const completed = app.get(CompletedConnections);
  const reporter = new InstanceReporter(client, shell, {
    service: 'gateway',
    measures: {
      webhook_messages_per_second: { metric: 'gateway_webhook_messages_total', isRate: true },
      live_events_delivered_per_second: { metric: 'live_events_delivered_total', isRate: true },
      live_connections: { metric: 'live_connections' },
      disk_free_bytes: { metric: 'gateway_disk_free_bytes' },
    },
    readLive: () => live.report(),
  });

  await app.get(Seeds).apply();
  await Promise.all([client.connect(), ingestPublisher.connect(), eventsStream.connect()]);
  await named.connect({ id: reporter.id, list: () => board.gatewayIds });
  client.listen(instanceReportSubject, (text) => board.learn(text));
  client.listen(connectionReportSubject, (text) => completed.learn(text));
  await replayChannel.connect((event, connectionName) => live.replay(event, connectionName));
  serveStreamDescription(app);
  serveApiDescription(app);
  await enableStaticFiles(app);
  app.get(WebhookRoute).attach(app.getHttpAdapter().getInstance());
  webSockets.attach(app.getHttpServer());
  feed.start();
  erasures.start();
  const owner = await createFirstOwner(app.get(UsersService), config, logger);
  health.register('gateway database', async () => {
    await dataSource.query('SELECT 1');
  });
  health.register('gateway nats', () => client.ping());
  health.register('gateway live feed', () => feed.check());
  replays.start();
  rehearsals.start();
  alarms.start();
  await app.startAllMicroservices();
  await app.listen(config.PORT, config.HOST);
  const url = await app.getUrl();
  reporter.start();
  logger.info({ url }, 'gateway is listening');

  return {
    url,
    owner,
    close: () =>
      closeAll([
        // The readiness probe already fails. Keep serving until the load balancer has noticed.
        () => wait(config.DRAIN_SECONDS * 1_000),
        () => reporter.stop(),
        () => replays.stop(),
        () => rehearsals.stop(),
        // Close live connections before the server. Clients keep them open indefinitely, so the server would wait for them forever.
        () => live.stop(),
        () => webSockets.stop(),
        () => named.close(),
        // Abort exports instead of waiting many minutes for them. Clients can continue them with `after` at another gateway.
        () => app.get(EventExports).stop(),
        () => app.close(),
        () => erasures.stop(),
        () => feed.stop(),
        () => eventsStream.close(),
        () => replayChannel.close(),
        () => alarms.stop(),
        () => client.close(),
        () => ingestPublisher.close(),
        () => rotation.stop(),
        () => dataSource.destroy(),
      ]),
  };
}

/**
 * Resets an owner's credentials where `npm start` is not used, such as in containers. Requires a terminal, so that the password cannot end
 * up in a log.
 */
async function resetOwnerOnTerminal({ DATABASE_URL, SECRET_KEY }: GatewayConfig): Promise<string> {
  if (!process.stdout.isTTY)
    throw new Error(
      'the command shows a password, which must not end up in a log. Run the command in a terminal',
    );
  const { username, password, token } = await resetOwner(DATABASE_URL, SECRET_KEY);
  return [
    'New credentials of the owner (they are shown only once):',
    `  user      ${username}`,
    `  password  ${password}`,
    `  token     ${token}`,
  ].join('\n');
}

/**
 * Restores an owner's access after a lost password, and returns the new credentials. Used by `npm run owner:reset` and the command
 * `reset-owner`.
 *
 * @throws Error if `secretKeys` are not the gateways' keys: a token encrypted with another key would keep the gateways from starting
 */
export async function resetOwner(databaseUrl: string, secretKeys: string[]): Promise<RecoveredOwner> {
  const dataSource = await connectGatewayDatabase(databaseUrl, { poolSize: 1 });
  try {
    const logger = createLogger('owner-reset', 'warn');
    await new KeyRotation({ ...encrypted(dataSource, secretKeys), logger }).check();
    return await recoverOwner(dataSource, secretKeys);
  } finally {
    await dataSource.destroy();
  }
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

/** Encrypts every stored secret with the first of `secretKeys`. Call it only while no service runs. Returns the number of secrets. */
export async function reencryptGateway(
  databaseUrl: string,
  secretKeys: string[],
  logger: Logger,
): Promise<number> {
  const dataSource = await connectGatewayDatabase(databaseUrl, { poolSize: 2 });
  try {
    return await new KeyRotation({ ...encrypted(dataSource, secretKeys), logger }).runOnce();
  } finally {
    await dataSource.destroy();
  }
}

/**
 * Connects the strategy that handles requests. Nest registers the handlers only when the microservice starts, because filters that are added
 * after that have no effect. The application runs the lifecycle hooks, so the microservice must not run them again.
 */
function connectStrategy(app: NestFastifyApplication, strategy: NatsServerStrategy): INestMicroservice {
  const microservice = app.connectMicroservice({ strategy }, { deferInitialization: true });
  if (microservice instanceof NestMicroservice) microservice.setIsInitHookCalled(true);
  return microservice;
}
