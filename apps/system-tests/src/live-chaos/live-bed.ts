import { FaultLoad } from '../chaos/fault-load.js';
import type { SentEvent } from '../chaos/ledger.js';
import { StoreReader } from '../chaos/store-reader.js';
import { waitFor } from '../measure/progress.js';
import { startServers, type Servers } from '../system/servers.js';
import { registerUsers, startSystem, type SharedSystem, type System } from '../system/system.js';
import { Fleet } from '../fleet/fleet.js';
import type { ClientPlan } from '../fleet/resuming-client.js';
import { StreamTap } from './stream-tap.js';
import { filterKinds, filterOf, type FilterKind } from '../fleet/test-events.js';

export interface Size {
  clients: number;
  /** Duration of the faults. */
  chaosSeconds: number;
  /** Pairs of windows. In one window of a pair the readers read, in the other they do not. */
  windowPairs: number;
  windowSeconds: number;
  stalledReaders: number;
  /** Number of events that the reconnecting clients have missed. */
  missedEvents: number;
}

interface LoadPlan {
  perSecond: number;
  make: () => SentEvent;
  /** Default: all gateways. */
  gateways?: System['gateways'];
}

// A user may have 50 connections, and broken ones count until the gateways notice them.
const connectionsPerUser = 15;

// Time limit for publishing the backlog. Another relay can claim a killed relay's batches only after 10 s.
const publishedLimitMs = 60_000;

/** Two gateways, an events service, and their servers. The clients run in two processes. */
export class LiveBed {
  private constructor(
    readonly size: Size,
    readonly servers: Servers,
    readonly system: SharedSystem,
    readonly tap: StreamTap,
    readonly reader: StoreReader,
  ) {}

  /** Clients under test, and clients that disturb them (`others`). */
  readonly crowd = Fleet.start();
  readonly others = Fleet.start();

  static async start(size: Size): Promise<LiveBed> {
    const servers = await startServers();
    const stops = [() => servers.stop()];
    try {
      const databaseUrl = await servers.createDatabase('live_chaos');
      const system = await startSystem(servers, databaseUrl, { gateways: 2, events: 1 });
      stops.push(() => system.stop());
      const tap = await StreamTap.connect(servers);
      stops.push(() => tap.close());
      const reader = await StoreReader.connect(servers, databaseUrl);
      const users = Math.ceil(size.clients / connectionsPerUser);
      return new LiveBed(size, servers, await registerUsers(system, users), tap, reader);
    } catch (error) {
      for (const stop of stops.reverse()) await stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.crowd.stop(), this.others.stop()]);
    await this.tap.close();
    await this.reader.close();
    await this.system.stop();
    await this.servers.stop();
  }

  get ports(): number[] {
    return this.system.gateways.map(({ url }) => Number(new URL(url).port));
  }

  tokenOf(client: number): string {
    const { tokens } = this.system;
    return tokens[client % tokens.length] ?? '';
  }

  /** Plans clients that connect to any gateway. Each kind of filter gets the same number of clients. */
  planClients(count: number, kinds: readonly FilterKind[] = filterKinds): ClientPlan[] {
    return Array.from({ length: count }, (_, number) => ({
      token: this.tokenOf(number),
      filter: filterOf(kinds[number % kinds.length] ?? 'none', Math.floor(number / kinds.length)),
      ports: this.ports,
    }));
  }

  /** Sends events through API and webhook at a fixed rate while `work` runs. */
  async underLoad<Result>(
    { perSecond, make, gateways = this.system.gateways }: LoadPlan,
    work: (load: FaultLoad) => Promise<Result>,
  ): Promise<Result> {
    const gatewayUrls = gateways.map(({ url }) => url);
    // At 10 requests per second, each client has time to wait for its replies. A reply takes 10 ms, or longer while a gateway is down.
    const clients = Math.max(2, Math.ceil(perSecond / 10));
    const load = new FaultLoad({ ...this.system, gatewayUrls, perSecond, clients, make });
    load.start();
    try {
      return await work(load);
    } finally {
      await load.stop();
    }
  }

  /** Cleans up after a failed part. */
  async abandon(): Promise<void> {
    await this.tap.stopFollowing();
    await Promise.all([this.crowd.dropAll(), this.others.dropAll()]);
  }

  /** Resolves when the whole backlog is on the stream. */
  async waitUntilPublished(): Promise<void> {
    const isPublished = await waitFor(
      async () => {
        // A broker that has just started may not respond yet.
        const backlog = await this.reader.readBacklog().catch(() => undefined);
        return backlog && backlog.outbox + backlog.ingest === 0 ? true : undefined;
      },
      { limitMs: publishedLimitMs, everyMs: 500 },
    );
    if (!isPublished) throw new Error(`the backlog is not empty after ${publishedLimitMs / 1_000} s`);
  }
}
