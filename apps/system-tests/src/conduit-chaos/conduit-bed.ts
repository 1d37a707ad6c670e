import pg from 'pg';
import type { Gap, OccurrenceOptions } from '../chaos/occurrences.js';
import { startTestBed, type TestBed } from '../chaos/test-bed.js';
import { waitFor } from '../measure/progress.js';
import { startPlatformSide, type PlatformSide } from '../system/platform-side.js';
import { startServers } from '../system/servers.js';

const shards = 8;
const activeTypes = ['stream.online', 'stream.offline', 'channel.update'];
const patience = { limitMs: 120_000, everyMs: 25 };

/** A gateway, an events service, and two connectors that share a conduit with eight shards. */
export class ConduitBed {
  private constructor(
    readonly bed: TestBed,
    readonly side: PlatformSide,
    /** One connection for all queries. Opening one per query would be too slow to notice a short loss. */
    private readonly database: InstanceType<typeof pg.Client>,
  ) {}

  /** The caller stops the bed. */
  static async start(): Promise<ConduitBed> {
    const bed = await startTestBed(await startServers(), 'conduit_chaos', { gateways: 1, events: 1 });
    const { servers, databaseUrl, system } = bed;
    try {
      const environment = { PLATFORM_TRANSPORT: 'conduit', PLATFORM_CONDUIT_SHARDS: String(shards) };
      const side = await startPlatformSide(servers, databaseUrl, system, environment);
      bed.onStop(() => side.stop());
      const database = new pg.Client(databaseUrl);
      await database.connect();
      bed.onStop(() => database.end());
      return new ConduitBed(bed, side, database);
    } catch (error) {
      await bed.stop();
      throw error;
    }
  }

  /** Resolves with the channels' ids when their subscriptions and all shards are enabled. */
  async monitorChannels(count: number): Promise<string[]> {
    const { request } = this.bed.system;
    const typesPath = '/api/v1/platform/event-types';
    for (const { type, active } of await request<{ type: string; active: boolean }[]>('GET', typesPath))
      if (active && !activeTypes.includes(type))
        await request('PUT', `${typesPath}/${type}`, { active: false });
    const { users } = await this.side.control<{ users: { id: string; login: string }[] }>('POST', '/users', {
      count,
    });
    for (const { login } of users) await request('POST', '/api/v1/streamers', { platform_username: login });
    // Plus one subscription to events about lost shards.
    const wanted = count * activeTypes.length + 1;
    const isReady = await waitFor(async () => {
      const { subscriptions } = await request<{ subscriptions: Record<string, number> }>(
        'GET',
        '/api/v1/platform/status',
      );
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
    const isLost = async (): Promise<true | undefined> => (await this.countEnabled()) < shards || undefined;
    await waitFor(isLost, { ...patience, limitMs: 10_000 });
  }

  readonly happen: OccurrenceOptions['happen'] = async (type, event) => {
    const body = { type, event };
    const reply = await this.side.control<{ shards: string[] }>('POST', '/occurrences', body);
    // If the platform dropped the message, this is the channel's own shard.
    const [shard] = reply.shards;
    if (shard === undefined)
      throw new Error('the platform sent no message for an occurrence: the channel has no subscription');
    return `shard ${shard}`;
  };

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
