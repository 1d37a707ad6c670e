import { setTimeout as wait } from 'node:timers/promises';
import type { Pace } from '../bench/measurement.js';
import { Fleet } from '../fleet/fleet.js';
import type { DeliveryCounts } from '../fleet/fleet-messages.js';
import { eventTypes } from '../fleet/test-events.js';
import { cpuReader } from '../measure/cpu-by-role.js';
import { memoryMegabytes } from '../measure/processes.js';
import { waitFor } from '../measure/progress.js';
import type { Servers } from '../system/servers.js';
import { registerUsers, type SharedSystem, type System } from '../system/system.js';

export interface ClientsPlan {
  clients: number;
  /** Gives every n-th client its own filter, which matches all events. Default: no filters. */
  filterEvery?: number;
  /** Measures the latency of every n-th message. Default: of none. */
  sampleEvery?: number;
}

export interface LiveRun extends DeliveryCounts {
  /** CPU seconds by process. `load` is the process of the clients. */
  cpuSeconds: Record<string, number>;
}

// A user may have 50 connections, and those of the previous round may still be closing.
const connectionsPerUser = 20;
const group = 'clients';
// Time limit until all clients are live. The gateway first looks up one token per 20 clients.
const liveLimitMs = 30_000;

/** WebSocket clients in a process of their own, which receive every event from one gateway. */
export class LiveClients {
  private readonly fleet = Fleet.start();
  private readonly idleMegabytes = this.gatewayMegabytes;

  private constructor(
    private readonly system: SharedSystem,
    private readonly servers: Servers,
    private readonly plan: ClientsPlan,
  ) {}

  /** Registers users for the clients, which `connect` then connects. */
  static async create(system: System, servers: Servers, plan: ClientsPlan): Promise<LiveClients> {
    const shared = await registerUsers(system, Math.ceil(plan.clients / connectionsPerUser));
    return new LiveClients(shared, servers, plan);
  }

  /** Resolves when all clients receive events. */
  async connect(): Promise<void> {
    const { clients, filterEvery = Infinity, sampleEvery = 0 } = this.plan;
    const { tokens } = this.system;
    const firstMessages = Array.from({ length: clients }, (_, index) =>
      JSON.stringify({
        token: tokens[index % tokens.length],
        ...(index % filterEvery === 0 &&
          filterEvery < Infinity && { event_type: [...eventTypes, `of-client-${index}`] }),
      }),
    );
    await this.fleet.openCounting(group, {
      port: Number(new URL(this.gateway.url).port),
      path: '/ws/platform-events/',
      firstMessages,
      sampleEvery,
    });
    const isLive = async (): Promise<true | undefined> =>
      (await this.gateway.metric('live_connections')) === clients ? true : undefined;
    if (!(await waitFor(isLive, { limitMs: liveLimitMs, everyMs: 100 })))
      throw new Error(`the gateway does not have ${clients} live connections`);
    // A client counts in this metric once its token is verified. It gets events a moment later.
    await wait(500);
  }

  async disconnect(): Promise<void> {
    await this.fleet.drop(group);
  }

  async stop(): Promise<void> {
    await this.fleet.stop();
  }

  /** Counts messages while events are sent. Starts after the warm-up. */
  async measure({ warmUpSeconds, seconds }: Pace): Promise<LiveRun> {
    const { system, servers, fleet } = this;
    await wait(warmUpSeconds * 1_000);
    const pids = {
      gateway: system.gateways.map(({ pid }) => pid),
      events: system.events.map(({ pid }) => pid),
    };
    const readCpu = cpuReader({ pids, servers, load: fleet });
    await fleet.takeDeliveryCounts(group);
    const before = readCpu();
    await wait(seconds * 1_000);
    const counts = await fleet.takeDeliveryCounts(group);
    const cpuSeconds = Object.fromEntries(
      Object.entries(readCpu()).map(([role, cpu]) => [role, cpu - (before[role] ?? 0)]),
    );
    return { ...counts, cpuSeconds };
  }

  /** Number of events that the slowest client has received. */
  get slowest(): number {
    return this.fleet.slowestOf(group);
  }

  async waitForProgress(): Promise<void> {
    await this.fleet.waitForProgress();
  }

  /** Growth of the gateway's memory per client in KiB, since before the first client connected. */
  get kibPerClient(): number {
    return ((this.gatewayMegabytes - this.idleMegabytes) * 1_024) / this.plan.clients;
  }

  private get gatewayMegabytes(): number {
    return memoryMegabytes(this.gateway.pid);
  }

  private get gateway() {
    const [gateway] = this.system.gateways;
    if (!gateway) throw new Error('live clients need a gateway');
    return gateway;
  }
}
