import { setTimeout as wait } from 'node:timers/promises';
import type { StoredEvent } from '@stream-events/contracts';
import { StoreReader } from '../chaos/store-reader.js';
import { waitFor } from '../measure/progress.js';
import { startPlatformSide, type PlatformSide } from '../system/platform-side.js';
import pg from 'pg';
import { startServers, type Servers } from '../system/servers.js';
import { startSystem, type System } from '../system/system.js';
import type { Happen } from './occurrences.js';

/** A reported gap: events of a shard may be missing in this period. Times are in milliseconds since 1970. */
export interface Gap {
  source: string;
  from: number;
  until: number;
}

// Replies of the gateway and of the simulator.
interface EventType { type: string; active: boolean }
interface User { id: string; login: string }
interface Status { subscriptions: Record<string, number> }

const shards = 8;
const activeTypes = ['stream.online', 'stream.offline', 'channel.update'];
const patience = { limitMs: 120_000, everyMs: 25 };

/** A gateway, an events service, and two connectors that share a conduit with eight shards. */
export class ConduitBed {
  private constructor(
    readonly servers: Servers,
    readonly system: System,
    readonly side: PlatformSide,
    /** One connection for all queries. Opening one per query would be too slow to notice a short loss. */
    private readonly database: InstanceType<typeof pg.Client>,
    private readonly reader: StoreReader,
  ) {}

  static async start(): Promise<ConduitBed> {
    const servers = await startServers();
    const stops = [() => servers.stop()];
    try {
      const databaseUrl = await servers.createDatabase('conduit_chaos');
      const system = await startSystem(servers, databaseUrl, { gateways: 1, events: 1 });
      stops.push(() => system.stop());
      const environment = { PLATFORM_TRANSPORT: 'conduit', PLATFORM_CONDUIT_SHARDS: String(shards) };
      const side = await startPlatformSide(servers, databaseUrl, system, environment);
      stops.push(() => side.stop());
      const database = new pg.Client(databaseUrl);
      await database.connect();
      const reader = await StoreReader.connect(servers, databaseUrl);
      return new ConduitBed(servers, system, side, database, reader);
    } catch (error) {
      for (const stop of stops.reverse()) await stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.reader.close();
    await this.database.end();
    await this.side.stop();
    await this.system.stop();
    await this.servers.stop();
  }

  /** Resolves with the channels' ids when their subscriptions and all shards are enabled. */
  async monitorChannels(count: number): Promise<string[]> {
    const { system, side } = this;
    const typesPath = '/api/v1/platform/event-types';
    for (const { type, active } of await system.request<EventType[]>('GET', typesPath))
      if (active && !activeTypes.includes(type))
        await system.request('PUT', `${typesPath}/${type}`, { active: false });
    const { users } = await side.control<{ users: User[] }>('POST', '/users', { count });
    for (const { login } of users)
      await system.request('POST', '/api/v1/streamers', { platform_username: login });
    // Plus one subscription to events about lost shards.
    const wanted = count * activeTypes.length + 1;
    const isReady = await waitFor(async () => {
      const { subscriptions } = await system.request<Status>('GET', '/api/v1/platform/status');
      return subscriptions.enabled === wanted || undefined;
    }, patience);
    if (!isReady) throw new Error(`the subscriptions are not enabled after ${patience.limitMs / 1_000} s`);
    await this.untilEnabled();
    return users.map(({ id }) => id);
  }

  async untilEnabled(): Promise<void> {
    const isEnabled = await waitFor(
      async () => (await this.countEnabled()) === shards || undefined,
      patience,
    );
    if (!isEnabled) throw new Error(`the shards are not enabled after ${patience.limitMs / 1_000} s`);
  }

  /** Resolves when the service has noticed the loss of a shard. Gives up after 10 s: the killed connector possibly had no shard. */
  async untilLost(): Promise<void> {
    await waitFor(async () => (await this.countEnabled()) < shards || undefined, {
      ...patience,
      limitMs: 10_000,
    });
  }

  readonly happen: Happen = async (type, event) => {
    const body = { type, event };
    const { shards: passed } = await this.side.control<{ shards: string[] }>('POST', '/occurrences', body);
    const [shard] = passed;
    if (shard === undefined)
      throw new Error('the platform sent no message for an occurrence: the channel has no subscription');
    return shard;
  };

  /** Waits until the backlog is empty. Returns all stored events and dead letters. */
  async readStored(): Promise<{ listed: StoredEvent[]; deadLetters: Set<string> }> {
    const isSettled = await waitFor(async () => {
      const { outbox, ingest } = await this.reader.readBacklog();
      return outbox + ingest === 0 || undefined;
    }, patience);
    if (!isSettled) throw new Error(`the backlog is not empty after ${patience.limitMs / 1_000} s`);
    await wait(2_000);
    return { listed: await this.reader.readNewEvents(), deadLetters: await this.reader.readDeadLetters() };
  }

  async readGaps(): Promise<Gap[]> {
    const { rows } = await this.database.query<Gap>(
      `SELECT source, extract(epoch FROM from_at)::float * 1000 AS "from",
              extract(epoch FROM coalesce(until_at, 'infinity'))::float * 1000 AS until
       FROM platform_connector.delivery_gaps WHERE transport = 'conduit'`,
    );
    return rows;
  }

  private async countEnabled(): Promise<number> {
    const { rows } = await this.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM platform_connector.conduit_shards WHERE status = 'enabled'`,
    );
    return rows[0]?.count ?? 0;
  }
}
