import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { JsonObject } from '@stream-events/contracts';
import { connectDatabase, createDataSource } from '@stream-events/database';
import { RequestClient } from '@stream-events/messaging';
import {
  closeAll,
  defineService,
  loadConfig,
  Health,
  NestLogger,
  createLogger,
  Registry,
  type Shell,
} from '@stream-events/service';
import type { OpenAPIObject } from '@nestjs/swagger';
import { describeStreams, serveStreamDescription } from './api-description/async-api.js';
import { describeApi, serveApiDescription } from './api-description/open-api.js';
import { gatewayVariables, type GatewayConfig } from './gateway.config.js';
import { GatewayModule, type GatewayConnections } from './gateway.module.js';
import { createHttpServer } from './http/http-server.js';
import { RouteMethods } from './http/route-methods.js';
import { EventFeed } from './live/reading/event-feed.service.js';
import { EventsStream } from './live/reading/events-stream.js';
import { CreateUsers1763700000000 } from './migrations/1763700000000-create-users.js';
import { LiveConnections } from './live/live-connections.service.js';
import { WebSockets } from './live/clients/web-sockets.service.js';
import { CreateReplays1764400000000 } from './migrations/1764400000000-create-replays.js';
import { ReplayChannel } from './replays/replay-channel.js';
import { ReplayRunner } from './replays/replay-runner.service.js';
import { Replay } from './replays/replay.entity.js';
import { AccessToken } from './users/access-token.entity.js';
import { LoginFailure } from './users/login-failure.entity.js';
import { LoginFailures } from './users/login-failures.repository.js';
import { recoverOwner, type RecoveredOwner } from './users/owner-recovery.js';
import { User } from './users/user.entity.js';
import { UsersService } from './users/users.service.js';
import { IngestPublisher } from './webhook/ingest-publisher.js';

/** What the gateway keeps in its own schema. */
export const schema = {
  name: 'gateway',
  entities: [User, AccessToken, LoginFailure, Replay],
  migrations: [CreateUsers1763700000000, CreateReplays1764400000000],
};

/** The gateway: the public edge. Its running service says where it listens and who the first owner is. */
export const gateway = defineService({ name: 'gateway', variables: gatewayVariables, start });

const pruneIntervalMs = 10 * 60_000;

async function start(shell: Shell<GatewayConfig>) {
  const { config, logger, health } = shell;
  if (Boolean(config.OWNER_USERNAME) !== Boolean(config.OWNER_PASSWORD)) {
    throw new Error('OWNER_USERNAME and OWNER_PASSWORD go together: only one of them is set');
  }
  const dataSource = await connectDatabase(databaseOptions(config.DATABASE_URL));
  const client = new RequestClient({ urls: config.NATS_URL, name: 'gateway' });
  const ingestPublisher = new IngestPublisher({ urls: config.NATS_URL, name: 'gateway-ingest' });
  const eventsStream = new EventsStream({ urls: config.NATS_URL, name: 'gateway-live', account: 'EVENTS' });
  const replayChannel = new ReplayChannel({ urls: config.NATS_URL, name: 'gateway-replays' }, logger);
  await Promise.all([client.connect(), ingestPublisher.connect(), eventsStream.connect()]);
  const routes = new RouteMethods();
  const connections = { dataSource, client, ingestPublisher, eventsStream, replayChannel, routes };
  const app = await createApp(shell, connections);
  const live = app.get(LiveConnections);
  await replayChannel.connect((event, connectionName) => live.replay(event, connectionName));
  serveStreamDescription(app);
  serveApiDescription(app);
  app.get(WebSockets).attach(app.getHttpServer());
  const feed = app.get(EventFeed);
  feed.start();

  const owner =
    config.OWNER_USERNAME && config.OWNER_PASSWORD
      ? await app.get(UsersService).ensureOwner(config.OWNER_USERNAME, config.OWNER_PASSWORD)
      : undefined;
  if (!(await app.get(UsersService).hasOwner())) {
    logger.warn(
      'there is no owner, so nobody can register users: set OWNER_USERNAME and OWNER_PASSWORD, or run npm run owner:reset',
    );
  }
  const pruning = setInterval(() => {
    app
      .get(LoginFailures)
      .prune()
      .catch((error: unknown) => logger.warn({ err: error }, 'old login failures could not be deleted'));
  }, pruneIntervalMs);
  health.register('gateway database', async () => {
    await dataSource.query('SELECT 1');
  });
  health.register('gateway nats', () => client.ping());
  health.register('gateway live feed', () => feed.check());
  app.get(ReplayRunner).start();
  await app.listen(config.PORT, config.HOST);
  const url = await app.getUrl();
  logger.info({ url }, 'gateway listens');

  return {
    url,
    /** The owner that this start made, if it did. */
    owner: owner && { username: owner.user.username, token: owner.token },
    close: () => {
      clearInterval(pruning);
      return closeAll([
        () => app.get(ReplayRunner).stop(),
        // Live connections stay open for as long as their clients like, and would keep the server waiting.
        () => live.stop(),
        () => app.get(WebSockets).stop(),
        () => app.close(),
        () => feed.stop(),
        () => eventsStream.close(),
        () => replayChannel.close(),
        () => client.close(),
        () => ingestPublisher.close(),
        () => dataSource.destroy(),
      ]);
    },
  };
}

/** Lets an owner in again who lost the password: for `npm run owner:reset`, on the machine itself. */
export async function resetOwner(databaseUrl: string, secretKeys: string[]): Promise<RecoveredOwner> {
  const dataSource = await connectDatabase({ ...databaseOptions(databaseUrl), poolSize: 1 });
  try {
    return await recoverOwner(dataSource, secretKeys);
  } finally {
    await dataSource.destroy();
  }
}

/** The gateway's API description, made without a database, NATS or port. */
export async function printOpenApi(): Promise<OpenAPIObject> {
  const config = loadConfig(gatewayVariables, {
    DATABASE_URL: 'postgres://nowhere',
    NATS_URL: 'nats://nowhere',
    SECRET_KEY: 'describes-the-api-and-encrypts-nothing',
  });
  const shell = {
    config,
    logger: createLogger('gateway', 'silent'),
    health: new Health(),
    metrics: new Registry(),
  };
  const dataSource = createDataSource(databaseOptions(config.DATABASE_URL));
  const nats = { urls: config.NATS_URL, name: 'gateway' };
  const client = new RequestClient(nats);
  const ingestPublisher = new IngestPublisher(nats);
  const eventsStream = new EventsStream(nats);
  const replayChannel = new ReplayChannel(nats, shell.logger);
  const routes = new RouteMethods();
  const connections = { dataSource, client, ingestPublisher, eventsStream, replayChannel, routes };
  const app = await createApp(shell, connections);
  return describeApi(app);
}

/** The description of what comes by itself, made like that of the API. */
export async function printAsyncApi(): Promise<JsonObject> {
  return describeStreams(await printOpenApi());
}

async function createApp(
  shell: Shell<GatewayConfig>,
  connections: GatewayConnections,
): Promise<NestFastifyApplication> {
  const { config, logger } = shell;
  const adapter = createHttpServer(config.TRUST_PROXY);
  connections.routes.watch(adapter.getInstance());
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.register(shell, connections),
    adapter,
    {
      bodyParser: false,
      logger: new NestLogger(logger),
      abortOnError: false,
    },
  );
  const origins = config.CORS_ORIGINS;
  app.enableCors({
    origin: origins.includes('*') ? '*' : origins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID'],
    exposedHeaders: ['Location', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
    maxAge: 86_400,
    // An OPTIONS that is no preflight is answered like one, not with a text error.
    strictPreflight: false,
  });
  return app;
}

function databaseOptions(url: string) {
  return {
    url,
    schema: schema.name,
    applicationName: 'gateway',
    entities: schema.entities,
    migrations: schema.migrations,
    poolSize: 10,
  };
}
