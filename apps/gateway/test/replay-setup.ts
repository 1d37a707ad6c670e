import { natsUsers, storeEventBatch, type NewEvent } from '@stream-events/contracts';
import { connectClient } from '@stream-events/database';
import { RequestClient } from '@stream-events/messaging';
import { createLogger } from '@stream-events/service';
import {
  createTestDatabase,
  eventually,
  freePort,
  ServiceProcess,
  startTestNats,
  type TestDatabase,
  type TestNats,
} from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { ReplaysRepository, type ReplayOrder } from '../src/replays/replays.repository.js';
import { ReplayChannel } from '../src/replays/replay-channel.js';
import { ReplayRunner } from '../src/replays/replay-runner.service.js';
import { connectGateway } from './connect-gateway.js';

// Time limit for NATS confirmations. After it, the gateway sends a batch again. Long, so that a busy machine does not cause repeats.
const patientLimitMs = 20_000;
// Pool size. Enough for the many replays that a test starts at once.
const connectionsOfGateway = 15;

/** A replayed event as a gateway received it. */
export interface Replayed {
  id: string;
  /** Arrival time on the monotonic clock of this process, in milliseconds. */
  at: number;
  connectionName: string | undefined;
}

/** The replay services of one gateway, and the events that the gateway received for delivery. */
export interface ReplayGateway {
  dataSource: DataSource;
  client: RequestClient;
  replays: ReplaysRepository;
  runner: ReplayRunner;
  replayed: Replayed[];
  stop(): Promise<void>;
  /** Simulates a killed process. */
  die(): Promise<void>;
}

/** A database, a NATS server, and the events service, shared by the gateways of a test. */
export class ReplaySetup {
  private constructor(
    readonly database: TestDatabase,
    readonly nats: TestNats,
    readonly events: ServiceProcess,
    /** The test's own connection. Stays open when gateways stop. */
    readonly dataSource: DataSource,
  ) {}

  static async start(): Promise<ReplaySetup> {
    const [database, nats] = await Promise.all([
      createTestDatabase(),
      startTestNats(Object.values(natsUsers)),
    ]);
    const events = new ServiceProcess('events', {
      HOST: '127.0.0.1',
      ADMIN_PORT: String(await freePort()),
      DATABASE_URL: database.urlFor('events'),
      NATS_URL: nats.urlFor('events'),
      PLATFORM: 'simulator',
      SECRET_KEY: 'the secret key of the tests of replays',
      EVENTS_MAX_GB: '1',
      INGEST_MAX_GB: '1',
      LOG_LEVEL: 'error',
    });
    await events.start();
    return new ReplaySetup(database, nats, events, await connectGateway(database, 1));
  }

  async stop(): Promise<void> {
    await this.events.stop();
    await this.nats.stop();
    await this.dataSource.destroy();
    await this.database.drop();
  }

  /** Ends all database sessions except the test's own. */
  async dropDatabaseConnections(): Promise<void> {
    const [own] = await this.dataSource.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
    const superuser = await eventually(() =>
      connectClient({ url: this.database.url, schema: 'public', applicationName: 'replay-test' }),
    );
    await superuser.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid NOT IN (pg_backend_pid(), $1)`,
      [own?.pid],
    );
    await superuser.end();
  }

  async startGateway(): Promise<ReplayGateway> {
    const logger = createLogger('test', 'silent');
    const urls = [this.nats.urlFor('gateway')];
    const client = new RequestClient({ urls, name: 'gateway' });
    const channel = new ReplayChannel({ urls, name: 'gateway-replays' }, logger, patientLimitMs);
    const replayed: Replayed[] = [];
    const [dataSource] = await Promise.all([
      connectGateway(this.database, connectionsOfGateway),
      client.connect(),
      channel.connect(({ id }, connectionName) =>
        replayed.push({ id, at: performance.now(), connectionName }),
      ),
    ]);
    const replays = new ReplaysRepository(dataSource);
    const runner = new ReplayRunner(replays, client, channel, { isErased: () => false }, logger);
    runner.start();
    const disconnect = async (): Promise<void> => {
      await Promise.all([channel.close(), client.close()]);
      if (dataSource.isInitialized) await dataSource.destroy();
    };
    return {
      dataSource,
      client,
      replays,
      runner,
      replayed,
      stop: async () => {
        await runner.stop();
        await disconnect();
      },
      // Without connections, the gateway can do nothing, but its leases remain.
      die: disconnect,
    };
  }
}

/** Creates events, one per millisecond, beginning at `from`. */
export function eventsFrom(
  from: number,
  count: number,
  describe: (index: number) => Partial<NewEvent> = () => ({}),
): NewEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    id: uuidV7({ msecs: from + index }),
    eventId: null,
    eventType: 'channel-follow',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: '{"user_id":"1","broadcaster_user_id":"4711"}',
    idempotencyKey: null,
    ...describe(index),
  }));
}

/** Stores events in batches, as the gateway does. */
export async function store(client: RequestClient, events: readonly NewEvent[]): Promise<void> {
  // A request to the events service holds at most 1,000 KiB of events (`maxBatchBytes`).
  let batch: NewEvent[] = [];
  let bytes = 0;
  for (const event of [...events, undefined]) {
    const size = event?.eventData.length ?? Infinity;
    if (batch.length === 256 || (batch.length > 0 && bytes + size > 400_000)) {
      // Retry after a timeout, as the gateway does.
      const stored = batch;
      await eventually(() => client.request(storeEventBatch, { events: stored }));
      [batch, bytes] = [[], 0];
    }
    if (event) [batch, bytes] = [[...batch, event], bytes + size];
  }
}

/** Returns the order for a replay of all events from `since` up to, but not including, `until`. */
export function orderOf(since: number, until: number, overrides: Partial<ReplayOrder> = {}): ReplayOrder {
  return {
    filters: {},
    since: new Date(since),
    until: new Date(until),
    rate: 1_000,
    connectionName: null,
    createdBy: 'ada',
    ...overrides,
  };
}
