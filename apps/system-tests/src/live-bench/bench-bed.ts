import { setTimeout as wait } from 'node:timers/promises';
import { DirectPublisher } from '../system/direct-publisher.js';
import { cpuSeconds, cpuSecondsOfFamily, memoryMegabytes } from '../measure/processes.js';
import { waitFor } from '../measure/progress.js';
import { forkServer, type ForkedServer } from '../system/forked-server.js';
import { startServers, type Servers } from '../system/servers.js';
import { registerUsers, startSystem, type SharedSystem } from '../system/system.js';
import { Fleet } from '../fleet/fleet.js';
import type { CountingPlan, DeliveryCounts } from '../fleet/fleet-messages.js';
import { eventTypes } from '../fleet/test-events.js';

/** The bare broadcast and the gateway. */
export type SubjectName = 'bare' | 'gateway';

// A user may have 50 connections, and those of the previous round may still be closing.
const connectionsPerUser = 20;
const group = 'clients';
// Time limit until all clients are live. The gateway first looks up one token per 20 clients.
const liveLimitMs = 30_000;

export interface BedOptions {
  clients: number;
  /** Gives every n-th client its own filter, which matches all events. 0: no filters. */
  filterEvery?: number;
}

/** One gateway, one events service, and a bare server on the same stream. The clients connect to one of the two subjects. */
export class BenchBed {
  private constructor(
    private readonly options: BedOptions,
    readonly servers: Servers,
    readonly system: SharedSystem,
    readonly bare: ForkedServer,
    readonly publisher: DirectPublisher,
  ) {}

  private readonly fleet = Fleet.start();
  /** In MiB, before the first client connects. */
  private readonly idleMemory = this.readMemory();

  static async start(options: BedOptions): Promise<BenchBed> {
    const servers = await startServers();
    const stops = [() => servers.stop()];
    try {
      const databaseUrl = await servers.createDatabase('live_bench');
      const system = await startSystem(servers, databaseUrl, { gateways: 1, events: 1 });
      stops.push(() => system.stop());
      const bare = await forkServer(new URL('bare-server.js', import.meta.url), [
        servers.nats.urlFor('events'),
      ]);
      stops.push(() => bare.stop());
      const publisher = await DirectPublisher.connect(servers);
      return new BenchBed(
        options,
        servers,
        await registerUsers(system, Math.ceil(options.clients / connectionsPerUser)),
        bare,
        publisher,
      );
    } catch (error) {
      for (const stop of stops.reverse()) await stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.fleet.stop();
    await this.publisher.close();
    await this.bare.stop();
    await this.system.stop();
    await this.servers.stop();
  }

  /** Resolves when all clients receive events. */
  async connect(subject: SubjectName, { sampleEvery = 0, isLockstep = false } = {}): Promise<void> {
    await this.fleet.openCounting(group, { ...this.targetOf(subject), sampleEvery, isLockstep });
    if (subject === 'bare') return;
    const { clients } = this.options;
    const isLive = await waitFor(
      async () =>
        (await this.system.gateways[0]?.metric('live_connections')) === clients ? true : undefined,
      { limitMs: liveLimitMs, everyMs: 100 },
    );
    if (!isLive) throw new Error(`the gateway does not have ${clients} live connections`);
    // A client counts in this metric once its token is verified. It gets events a moment later.
    await wait(500);
  }

  async disconnect(): Promise<void> {
    await this.fleet.drop(group);
  }

  /** Number of events that the slowest client has received. */
  get slowest(): number {
    return this.fleet.slowestOf(group);
  }

  async waitForProgress(): Promise<void> {
    await this.fleet.waitForProgress();
  }

  /** Counts since the last call. */
  async takeCounts(): Promise<DeliveryCounts> {
    return this.fleet.takeDeliveryCounts(group);
  }

  /** CPU seconds so far, by process. */
  readCpu(): Record<string, number> {
    const { bare, system, servers, fleet } = this;
    const ofServices = (pids: readonly { pid: number }[]): number =>
      pids.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
    return {
      bare: cpuSeconds(bare.pid),
      gateway: ofServices(system.gateways),
      events: ofServices(system.events),
      NATS: cpuSeconds(servers.nats.pid),
      PostgreSQL: cpuSecondsOfFamily(servers.postgres.pid),
      clients: cpuSeconds(fleet.pid),
      'load and measuring': cpuSeconds(process.pid),
    };
  }

  /** Memory growth per client in KiB, since before the first client connected. */
  memoryPerClient(subject: SubjectName): number {
    return ((this.readMemory()[subject] - this.idleMemory[subject]) * 1_024) / this.options.clients;
  }

  private readMemory(): Record<SubjectName, number> {
    const [gateway] = this.system.gateways;
    return { bare: memoryMegabytes(this.bare.pid), gateway: gateway ? memoryMegabytes(gateway.pid) : 0 };
  }

  private targetOf(subject: SubjectName): Pick<CountingPlan, 'port' | 'path' | 'firstMessages'> {
    const port =
      subject === 'bare' ? this.bare.port : Number(new URL(this.system.gateways[0]?.url ?? '').port);
    const { tokens } = this.system;
    const { clients, filterEvery = 0 } = this.options;
    const firstMessages = Array.from({ length: clients }, (_, index) =>
      JSON.stringify({
        token: tokens[index % tokens.length],
        ...(filterEvery > 0 &&
          index % filterEvery === 0 && { event_type: [...eventTypes, `of-client-${index}`] }),
      }),
    );
    return { port, path: '/ws/platform-events/', firstMessages };
  }
}
