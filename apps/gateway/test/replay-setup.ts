import { natsUsers, storeEvents, type NewEvent } from '@stream-events/contracts';
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

// What the broker does not say to have within the limit goes out twice: on a busy machine, too, which tests are not about.
const patientLimitMs = 20_000;
// Nobody waits for one, which may take 3 s at most, when many replays begin at once.
const connectionsOfGateway = 15;

/** An event that went out again, as a gateway got it. */
export interface Replayed {
  id: string;
  /** When it came, in milliseconds of this process. */
  at: number;
  connectionName: string | undefined;
}

/** What a gateway has for replays, and what it got to deliver. */
export interface ReplayGateway {
  dataSource: DataSource;
  client: RequestClient;
  replays: ReplaysRepository;
  runner: ReplayRunner;
  replayed: Replayed[];
  stop(): Promise<void>;
  /** As when its process is gone. */
  die(): Promise<void>;
}

/** A database, a broker and the events service, on which gateways replay. */
export class ReplaySetup {
  private constructor(
    readonly database: TestDatabase,
    readonly nats: TestNats,
    readonly events: ServiceProcess,
    /** The test’s own, which no gateway that dies takes along. */
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
      DATABASE_URL: database.url,
      NATS_URL: nats.urlFor('events'),
      PLATFORM: 'simulator',
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
    const runner = new ReplayRunner(replays, client, channel, logger);
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
      // It can do nothing any more, and its leases stay.
      die: disconnect,
    };
  }
}

/** So many events, one in each millisecond from `from` on. */
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

/** Stores events, as the gateway does. */
export async function store(client: RequestClient, events: readonly NewEvent[]): Promise<void> {
  // A message to the service holds 512 KiB of events.
  let batch: NewEvent[] = [];
  let bytes = 0;
  for (const event of [...events, undefined]) {
    const size = event?.eventData.length ?? Infinity;
    if (batch.length === 256 || (batch.length > 0 && bytes + size > 400_000)) {
      // Again, as the gateway does it, when no answer comes in time.
      const stored = batch;
      await eventually(() => client.request(storeEvents, { events: stored }));
      [batch, bytes] = [[], 0];
    }
    if (event) [batch, bytes] = [[...batch, event], bytes + size];
  }
}

/** A replay of everything from `since` to before `until`. */
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
