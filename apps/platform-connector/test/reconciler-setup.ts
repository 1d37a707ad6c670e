import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { INestMicroservice } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  eventsStreamName,
  eventsStreamSubjects,
  eventSubject,
  natsUsers,
  printEventRecord,
  type StoredEvent,
} from '@stream-events/contracts';
import { toUnavailable } from '@stream-events/database';
import { connectNats, ErrorResponder, NatsServerStrategy, RequestClient } from '@stream-events/messaging';
import { createLogger, Health, loadConfig, NestLogger, Registry } from '@stream-events/service';
import {
  createTestDatabase,
  eventually,
  startTestNats,
  type TestDatabase,
  type TestNats,
} from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { ConsentEventsConsumer } from '../src/connections/consent-events.consumer.js';
import { EventTypesService } from '../src/event-types/event-types.service.js';
import { servedContracts } from '../src/platform-connector.app.js';
import { variables } from '../src/platform-connector.config.js';
import { schema } from '../src/platform-connector.database.js';
import { PlatformConnectorModule } from '../src/platform-connector.module.js';
import { PLATFORM } from '../src/platform/platform-settings.js';
import { Reconciler } from '../src/reconciliation/reconciler.service.js';
import { RevocationsConsumer } from '../src/revocations/revocations.consumer.js';
import { SubscriptionStatus } from '../src/subscriptions/subscription-status.service.js';
import { connectConnector } from './connect-connector.js';
import { PatientClient } from './patient-client.js';
import { MonitoredList, startStandInMonitor } from './stand-in-streamer-monitor.js';
import { StandInPlatform } from './stand-in-platform.js';
import { publicUrl, secret } from './subscription-factory.js';

// On a busy machine, JetStream exceeds the default of 5 s.
const requestTimeoutMs = 30_000;

export interface ConnectorInstance {
  metrics: Registry;
  status: SubscriptionStatus;
  stop(): Promise<void>;
  /** Simulates a crash: cuts the instance off from the database and NATS in the middle of its work. */
  cutOff(): Promise<void>;
}

/** Runs a broker, a database, and stand-ins for the platform and the streamer monitor. */
export class ReconcilerSetup {
  platform = new StandInPlatform();
  readonly monitored = new MonitoredList();
  private readonly instances: ConnectorInstance[] = [];
  private monitor: { close(): Promise<void> } | undefined;

  private constructor(
    readonly nats: TestNats,
    private readonly database: TestDatabase,
    readonly dataSource: DataSource,
    private readonly events: NatsConnection,
    /** Sends requests as the gateway's NATS user. */
    readonly gateway: PatientClient,
  ) {}

  static async start(): Promise<ReconcilerSetup> {
    const nats = await startTestNats(Object.values(natsUsers));
    const database = await createTestDatabase();
    const gateway = new PatientClient({ urls: [nats.urlFor('gateway')], name: 'test' });
    await gateway.connect();
    const events = await connectNats({ urls: [nats.urlFor('events')], name: 'test', account: 'EVENTS' });
    const setup = new ReconcilerSetup(nats, database, await connectConnector(database, 2), events, gateway);
    await setup.createStream();
    await setup.startMonitor();
    return setup;
  }

  /** Stops all instances. Clears the tables, the platform, and the list of streamers. */
  async reset(): Promise<void> {
    await this.stopInstances();
    await this.dataSource.query(
      'TRUNCATE connections, subscriptions, event_types, streamer_event_types, user_grants',
    );
    await this.dataSource.query('TRUNCATE reconciliation');
    await this.dataSource.query('INSERT INTO reconciliation DEFAULT VALUES');
    this.platform = new StandInPlatform();
    this.monitored.ids = [];
    this.monitored.failsFromPage = Infinity;
    await this.startMonitor();
  }

  async close(): Promise<void> {
    await this.stopInstances();
    await this.stopMonitor();
    await this.gateway.close();
    await this.events.close();
    await this.dataSource.destroy();
    await this.nats.stop();
    await this.database.drop();
  }

  async startMonitor(): Promise<void> {
    this.monitor ??= await startStandInMonitor(this.nats.urlFor('streamer-monitor'), this.monitored);
  }

  async stopMonitor(): Promise<void> {
    await this.monitor?.close();
    this.monitor = undefined;
  }

  /** Starts an instance that is wired like the app, but calls the stand-in platform. */
  async startInstance(environment: Record<string, string> = {}): Promise<ConnectorInstance> {
    const url = this.nats.urlFor('platform-connector');
    const config = loadConfig(variables, {
      DATABASE_URL: this.database.urlFor(schema.name),
      NATS_URL: url,
      SECRET_KEY: 'k'.repeat(32),
      PLATFORM: 'twitch',
      PUBLIC_URL: publicUrl,
      PLATFORM_WEBHOOK_SECRET: secret,
      ...environment,
    });
    const logger = createLogger('test', 'silent');
    const nats = { urls: [url], name: 'platform-connector' };
    const dataSource = await connectConnector(this.database, 6);
    const client = new RequestClient(nats);
    await client.connect();
    const eventsConnection = await connectNats({ ...nats, account: 'EVENTS' });
    const metrics = new Registry();
    const module = await Test.createTestingModule({
      imports: [
        PlatformConnectorModule.register(
          { config, logger, health: new Health(), metrics },
          { dataSource, client, connection: eventsConnection },
        ),
      ],
    })
      .overrideProvider(PLATFORM)
      .useValue(this.platform)
      .setLogger(new NestLogger(logger))
      .compile();
    const strategy = new NatsServerStrategy({
      ...nats,
      queue: 'platform-connector',
      contracts: servedContracts,
    });
    const app: INestMicroservice = module.createNestMicroservice({ strategy });
    app.useGlobalFilters(new ErrorResponder(logger, toUnavailable));
    await app.get(EventTypesService).start();
    await app.get(Reconciler).start();
    app.get(RevocationsConsumer).start();
    app.get(ConsentEventsConsumer).start();
    await app.listen();
    // Wait until NATS has processed the instance's subscriptions.
    await strategy.ping();

    let isClosed = false;
    const closeConnections = async (): Promise<void> => {
      await client.close();
      await eventsConnection.close();
      if (dataSource.isInitialized) await dataSource.destroy();
    };
    const instance: ConnectorInstance = {
      metrics,
      status: app.get(SubscriptionStatus),
      stop: async () => {
        if (isClosed) return;
        isClosed = true;
        await app.get(ConsentEventsConsumer).stop();
        await app.get(RevocationsConsumer).stop();
        await app.get(Reconciler).stop();
        await app.close();
        await closeConnections();
      },
      cutOff: () => closeConnections(),
    };
    this.instances.push(instance);
    return instance;
  }

  /** Publishes an event as the events service's relay does. */
  async publish(event: Partial<StoredEvent>): Promise<void> {
    const full: StoredEvent = {
      id: v7(),
      eventId: v7(),
      eventType: 'subscription-revocation',
      eventSource: 'PlatformSub',
      origin: 'platform',
      eventData: '{}',
      ...event,
    };
    await jetstream(this.events, { timeout: requestTimeoutMs }).publish(
      eventSubject(full.origin, full.eventType, null),
      printEventRecord(full),
    );
  }

  async createStream(): Promise<void> {
    const { streams } = await jetstreamManager(this.events, { timeout: requestTimeoutMs });
    await streams.add({ name: eventsStreamName, subjects: [eventsStreamSubjects] });
  }

  async deleteStream(): Promise<void> {
    const { streams } = await jetstreamManager(this.events, { timeout: requestTimeoutMs });
    await streams.delete(eventsStreamName);
  }

  /** Ends all pauses, and makes a listing due. */
  async passTime(): Promise<void> {
    await eventually(() =>
      this.dataSource.transaction(async (transaction) => {
        // Wait for the end of the current round, which may still save pauses.
        const [idle] = await transaction.query<unknown[]>(
          'SELECT FROM reconciliation WHERE holder IS NULL FOR UPDATE',
        );
        if (!idle) throw new Error('the round has not ended');
        await transaction.query('UPDATE subscriptions SET retry_at = now() WHERE retry_at IS NOT NULL');
        await transaction.query('UPDATE reconciliation SET due_at = now(), listing_due_at = now()');
      }),
    );
  }

  /**
   * Postpones the next round by a minute unless a hint arrives, and lets no listing become due. For tests of whether a message causes a
   * round.
   */
  async postponeRounds(): Promise<void> {
    await eventually(async () => {
      const postponed = await this.dataSource.query<unknown[]>(
        `WITH postponed AS (
           UPDATE reconciliation SET due_at = now() + interval '1 minute', listing_due_at = now() + interval '5 minutes'
           WHERE holder IS NULL AND due_at > now() AND listing_due_at > now() RETURNING id
         ) SELECT FROM postponed`,
      );
      if (postponed.length === 0) throw new Error('a round has not ended, or is due');
    });
  }

  /** Returns the statuses of the subscriptions, by `type streamer`. */
  async statuses(): Promise<Record<string, string>> {
    const rows = await this.dataSource.query<{ name: string; status: string }[]>(
      `SELECT type || ' ' || (condition->>'broadcaster_user_id') AS name, status FROM subscriptions`,
    );
    return Object.fromEntries(rows.map(({ name, status }) => [name, status]));
  }

  private async stopInstances(): Promise<void> {
    await Promise.all(this.instances.splice(0).map((instance) => instance.stop()));
  }
}
