import { setTimeout as wait } from 'node:timers/promises';
import { FaultLoad } from '../chaos/fault-load.js';
import { Fleet } from '../fleet/fleet.js';
import { makeSmallEvent } from '../fleet/test-events.js';
import { cpuMicrosecondsPer, cpuReader } from '../measure/cpu-by-role.js';
import type { Servers } from '../system/servers.js';
import { registerUsers, startSystem, type System } from '../system/system.js';
import type { Run } from './run.js';
import type { Side } from './side.js';

const clients = 500;
const eventsPerSecond = 40;
// A user may have 50 connections.
const connectionsPerUser = 25;
const group = 'clients';
// A client is connected a moment before the gateway has checked its token and sends it events.
const settleMs = 2_000;

/** 500 WebSocket clients that receive every event. The unit of work is one message to one client. */
export class LiveSubject {
  private constructor(
    private readonly system: System,
    private readonly fleet: Fleet,
    private readonly load: FaultLoad,
  ) {}

  static async start({ servers, checkout, createDatabase }: Side): Promise<LiveSubject> {
    const system = await startSystem(servers, await createDatabase(), { gateways: 1, events: 1, checkout });
    const fleet = Fleet.start();
    const load = new FaultLoad({
      ...system,
      gatewayUrls: system.gateways.map(({ url }) => url),
      perSecond: eventsPerSecond,
      clients: 4,
      make: () => makeSmallEvent(),
    });
    const subject = new LiveSubject(system, fleet, load);
    try {
      await subject.connect();
      return subject;
    } catch (error) {
      await subject.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.load.stop();
    await this.fleet.stop();
    await this.system.stop();
  }

  /** Sends events at a fixed rate, which the services reach without effort. */
  async measure(
    servers: Servers,
    { warmUpSeconds, seconds }: { warmUpSeconds: number; seconds: number },
  ): Promise<Run> {
    const { system, fleet, load } = this;
    load.start();
    await wait(warmUpSeconds * 1_000);
    const [gateway, events] = [system.gateways, system.events].map((processes) =>
      processes.map(({ pid }) => pid),
    );
    const readCpu = cpuReader({
      pids: { gateway: gateway ?? [], events: events ?? [] },
      servers,
      load: fleet,
    });
    await fleet.takeDeliveryCounts(group);
    const before = readCpu();
    await wait(seconds * 1_000);
    const counts = await fleet.takeDeliveryCounts(group);
    const { load: _, ...cpuMicroseconds } = cpuMicrosecondsPer(counts.received, before, readCpu());
    await load.pause();
    return {
      cpuMicroseconds,
      perSecond: counts.received / counts.seconds,
      p99: counts.latencyMs.p99,
      failed: counts.ended,
    };
  }

  private async connect(): Promise<void> {
    const { tokens } = await registerUsers(this.system, clients / connectionsPerUser);
    await this.fleet.openCounting(group, {
      port: Number(new URL(this.system.gateways[0]?.url ?? '').port),
      path: '/ws/platform-events/',
      firstMessages: Array.from({ length: clients }, (_, index) =>
        JSON.stringify({ token: tokens[index % tokens.length] }),
      ),
      sampleEvery: 1,
      isLockstep: false,
    });
    await wait(settleMs);
  }
}
