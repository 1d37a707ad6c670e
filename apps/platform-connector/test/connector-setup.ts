import { Writable } from 'node:stream';
import type { NatsConnection } from '@nats-io/transport-node';
import { NestFactory } from '@nestjs/core';
import { RequestClient } from '@stream-events/messaging';
import { Alarms, Health, loadConfig, Registry, toLoggedError, type Logger } from '@stream-events/service';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import { pino } from 'pino';
import type { DataSource } from 'typeorm';
import { variables, type PlatformConnectorConfig } from '../src/platform-connector.config.js';
import { schema } from '../src/platform-connector.database.js';
import { PlatformConnectorModule } from '../src/platform-connector.module.js';
import { PlatformHttp } from '../src/platform/platform-http.js';
import { SocketAlarms } from '../src/alarm-checks/socket-alarms.service.js';
import { alarmTimes } from '../src/alarms/alarm-times.js';
import { AlarmPoster } from '../src/alarms/alarm-poster.service.js';
import { AlarmsRepository } from '../src/alarms/alarms.repository.js';
import { ClientCalls } from '../src/client-calls/client-calls.service.js';
import { ShardKeeper } from '../src/conduits/shard-keeper.service.js';
import { ConnectionUpkeep } from '../src/connections/connection-upkeep.service.js';
import { ConnectionsService } from '../src/connections/connections.service.js';
import { UserTokens } from '../src/connections/user-tokens.service.js';
import { PictureDownloads } from '../src/pictures/picture-downloads.service.js';
import { PicturesRepository } from '../src/pictures/pictures.repository.js';
import { Pictures } from '../src/pictures/pictures.service.js';
import type { OutboundPlatform } from '@stream-events/platforms';
import { PLATFORM } from '../src/platform/platform-settings.js';
import { DeliveryGaps } from '../src/sockets/delivery-gaps.service.js';
import { PlatformStatusService } from '../src/status/platform-status.service.js';
import { UserSockets } from '../src/user-sockets/user-sockets.service.js';
import { connectConnector } from './connect-connector.js';
import { FakePlatform } from './fake-platform.js';
import { setPatientLimits } from './patient-limits.js';

const secretKey = 'a secret key of the tests without commas';
const clientId = 'client-of-the-tests';

/** One instance of the connector, without NATS. Instances share a database. */
export interface ConnectorInstance {
  platform: OutboundPlatform;
  status: PlatformStatusService;
  connections: ConnectionsService;
  upkeep: ConnectionUpkeep;
  userTokens: UserTokens;
  calls: ClientCalls;
  shards: ShardKeeper;
  userSockets: UserSockets;
  alarms: Alarms;
  alarmList: AlarmsRepository;
  alarmPoster: AlarmPoster;
  socketAlarms: SocketAlarms;
  pictures: Pictures;
  pictureCache: PicturesRepository;
  metrics: Registry;
  close(): Promise<void>;
}

export class ConnectorSetup {
  /** The log output of all instances. */
  logs = '';
  private readonly instances: ConnectorInstance[] = [];

  private constructor(
    readonly fake: FakePlatform,
    readonly database: TestDatabase,
    readonly dataSource: DataSource,
  ) {}

  static async start(): Promise<ConnectorSetup> {
    setPatientLimits();
    const [fake, database] = await Promise.all([FakePlatform.start(), createTestDatabase()]);
    return new ConnectorSetup(fake, database, await connectConnector(database, 20));
  }

  /** Parses the configuration of an instance from environment variables. */
  config(environment: Record<string, string> = {}): PlatformConnectorConfig {
    const { port, clientSecret } = this.fake;
    return loadConfig(variables, {
      DATABASE_URL: this.database.urlFor(schema.name),
      NATS_URL: 'nats://127.0.0.1:4222',
      SECRET_KEY: secretKey,
      PLATFORM: 'simulator',
      PLATFORM_CLIENT_ID: clientId,
      PLATFORM_CLIENT_SECRET: clientSecret,
      PLATFORM_API_URL: `http://127.0.0.1:${port}/api`,
      PLATFORM_AUTH_URL: `http://127.0.0.1:${port}/oauth2`,
      ...environment,
    });
  }

  /** Returns a logger that writes to `logs`. Unlike a service's logger, it redacts nothing. */
  createLogger(): Logger {
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.logs += chunk.toString();
        done();
      },
    });
    return pino({ level: 'trace', serializers: { err: (error: unknown) => toLoggedError(error) } }, stream);
  }

  async createInstance(
    environment: Record<string, string> = {},
    times = alarmTimes,
  ): Promise<ConnectorInstance> {
    const metrics = new Registry();
    const shell = {
      config: this.config(environment),
      logger: this.createLogger(),
      health: new Health(),
      metrics,
    };
    const context = await NestFactory.createApplicationContext(
      PlatformConnectorModule.register(
        shell,
        {
          dataSource: this.dataSource,
          client: new RequestClient({ urls: [shell.config.NATS_URL[0] ?? ''], name: 'never-connected' }),
          connection: undefined as unknown as NatsConnection, // Safe cast: no consumer is started.
        },
        times,
      ),
      { logger: false, abortOnError: false },
    );
    const instance: ConnectorInstance = {
      platform: context.get<OutboundPlatform>(PLATFORM),
      status: context.get(PlatformStatusService),
      connections: context.get(ConnectionsService),
      upkeep: context.get(ConnectionUpkeep),
      userTokens: context.get(UserTokens),
      calls: context.get(ClientCalls),
      shards: context.get(ShardKeeper),
      userSockets: context.get(UserSockets),
      alarms: context.get(Alarms),
      alarmList: context.get(AlarmsRepository),
      alarmPoster: context.get(AlarmPoster),
      socketAlarms: context.get(SocketAlarms),
      pictures: context.get(Pictures),
      pictureCache: context.get(PicturesRepository),
      metrics,
      close: async () => {
        await context.get(ConnectionUpkeep).stop();
        await context.get(ShardKeeper).stop();
        await context.get(UserSockets).stop();
        await context.get(DeliveryGaps).stop();
        await context.close();
        await context.get(UserTokens).stop();
        await context.get(PlatformHttp).close();
        await context.get(PictureDownloads).close();
      },
    };
    this.instances.push(instance);
    return instance;
  }

  /** Returns the contents of the connector's platform tables, as text. */
  async readTables(): Promise<string> {
    const rows = await this.dataSource.query<{ row: string }[]>(
      `SELECT row_to_json(app_tokens)::text AS row FROM app_tokens
       UNION ALL SELECT row_to_json(rate_budgets)::text FROM rate_budgets
       UNION ALL SELECT row_to_json(platform_errors)::text FROM platform_errors
       UNION ALL SELECT row_to_json(connections)::text FROM connections`,
    );
    return rows.map(({ row }) => row).join('\n');
  }

  /** Prepares the next test: closes the instances, clears the tables that most tests use, and resets the limits and the platform. */
  async reset(): Promise<void> {
    await Promise.all(this.instances.splice(0).map((instance) => instance.close()));
    await this.dataSource.query(
      'TRUNCATE app_tokens, connections, pictures, platform_errors, rate_budgets, user_grants',
    );
    this.fake.reset();
    setPatientLimits();
    this.logs = '';
  }

  async stop(): Promise<void> {
    await this.reset();
    await this.dataSource.destroy();
    await Promise.all([this.fake.stop(), this.database.drop()]);
  }
}
