import { FaultLoad } from '../chaos/fault-load.js';
import type { SentEvent } from '../chaos/ledger.js';
import { startTestBed, type TestBed } from '../chaos/test-bed.js';
import { Fleet } from '../fleet/fleet.js';
import type { Judgement } from '../fleet/fleet-messages.js';
import type { ClientPlan } from '../fleet/resuming-client.js';
import { filterOf } from '../fleet/test-events.js';
import { startServers, type Servers } from '../system/servers.js';
import { registerUsers, type System } from '../system/system.js';
import { StreamHistory } from './stream-history.js';

export interface Size {
  clients: number;
  /** Duration of the faults. */
  chaosSeconds: number;
  /** Pairs of windows. In one window of a pair the readers read, in the other they do not. */
  windowPairs: number;
  windowSeconds: number;
  stalledReaders: number;
}

interface LoadPlan {
  perSecond: number;
  make: () => SentEvent;
  /** Default: all gateways. */
  gateways?: System['gateways'];
}

// A user may have 50 connections, and broken ones count until the gateways notice them.
const connectionsPerUser = 15;

/** Two gateways, an events service, and their servers. The clients run in two processes. */
export class LiveBed {
  readonly history: StreamHistory;

  private constructor(
    readonly size: Size,
    readonly bed: TestBed<Servers>,
    private readonly tokens: readonly string[],
    /** Clients under test. */
    readonly crowd: Fleet,
    /** Clients that disturb them. */
    readonly others: Fleet,
  ) {
    this.history = new StreamHistory(bed.stream);
  }

  /** The caller stops the bed. */
  static async start(size: Size): Promise<LiveBed> {
    const bed = await startTestBed(await startServers(), 'live_chaos', { gateways: 2, events: 1 });
    const fleets = [Fleet.start(), Fleet.start()] as const;
    for (const fleet of fleets) bed.onStop(() => fleet.stop());
    try {
      const users = Math.ceil(size.clients / connectionsPerUser);
      const { tokens } = await registerUsers(bed.system, users);
      const live = new LiveBed(size, bed, tokens, ...fleets);
      bed.onStop(() => live.history.stopFollowing());
      return live;
    } catch (error) {
      await bed.stop();
      throw error;
    }
  }

  get ports(): number[] {
    return this.bed.system.gateways.map(({ url }) => Number(new URL(url).port));
  }

  tokenOf(client: number): string {
    return this.tokens[client % this.tokens.length] ?? '';
  }

  /** Plans clients that connect to any gateway. Each kind of filter gets the same number of clients. */
  planClients(count: number): ClientPlan[] {
    return Array.from({ length: count }, (_, number) => ({
      token: this.tokenOf(number),
      filter: filterOf(number),
      ports: this.ports,
    }));
  }

  /** Sends events through API and webhook at a fixed rate while `work` runs. */
  async underLoad<Result>(
    { perSecond, make, gateways = this.bed.system.gateways }: LoadPlan,
    work: (load: FaultLoad) => Promise<Result>,
  ): Promise<Result> {
    const gatewayUrls = gateways.map(({ url }) => url);
    // At 10 requests per second, each client has time to wait for its replies. A reply takes 10 ms, or longer while a gateway is down.
    const clients = Math.max(2, Math.ceil(perSecond / 10));
    const load = new FaultLoad({ ...this.bed.system, gatewayUrls, perSecond, clients, make });
    load.start();
    try {
      return await work(load);
    } finally {
      await load.stop();
    }
  }

  /** Compares what a group's clients have received with the stream, and removes the clients. */
  async judge(fleet: Fleet, group: string): Promise<Judgement> {
    const history = await this.history.read();
    const judgement = await fleet.judge(
      group,
      history.map(({ epoch, events }) => ({ epoch, events })),
    );
    await fleet.drop(group);
    return judgement;
  }

  /** Cleans up after a failed part. */
  async abandon(): Promise<void> {
    await this.history.stopFollowing();
    await Promise.all([this.crowd.dropAll(), this.others.dropAll()]);
  }
}

/** Findings as Markdown lines. */
export function printFindings({ kinds, examples }: Judgement, others: readonly string[] = []): string[] {
  if (examples.length === 0 && others.length === 0) return ['No findings.'];
  return [
    `Findings: ${printCounts(kinds)}.`,
    [
      ...examples.map(({ kind, what, filter }) => `- ${kind}: ${what}, filter ${filter}`),
      ...others.map((line) => `- ${line}`),
    ].join('\n'),
  ];
}

export function printCounts(counts: Record<string, number>): string {
  return (
    Object.entries(counts)
      .map(([name, count]) => `${count.toLocaleString('en')} × ${name}`)
      .join(', ') || 'none'
  );
}
