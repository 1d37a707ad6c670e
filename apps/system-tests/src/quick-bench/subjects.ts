import { startSubject, type Subject } from '../bench/subject.js';
import type { Pace } from '../bench/measurement.js';
import type { FaultLoad } from '../chaos/fault-load.js';
import { LiveClients } from '../live-bench/live-clients.js';
import { startEventLoad } from '../live-bench/measurement.js';
import { cpuMicrosecondsPer, cpuReader } from '../measure/cpu-by-role.js';
import { startPlatformSide } from '../system/platform-side.js';
import type { Servers } from '../system/servers.js';
import { startSystem, type System } from '../system/system.js';
import type { Run } from './run.js';
import type { Side } from './side.js';

const clients = 500;
const eventsPerSecond = 40;

/** One gateway and one events service of a side, for requests. */
export async function startRequestSubject({ servers, checkout, createDatabase }: Side): Promise<Subject> {
  return startSubject('1 + 1', servers, await createDatabase(), checkout);
}

/** 500 WebSocket clients that receive every event. The unit of work is one message to one client. */
export class LiveSubject {
  private constructor(
    private readonly system: System,
    private readonly load: FaultLoad,
    private readonly clients: LiveClients,
  ) {}

  static async start(side: Side, servers: Servers): Promise<LiveSubject> {
    const { checkout, createDatabase } = side;
    const size = { gateways: 1, events: 1, checkout };
    const system = await startSystem(side.servers, await createDatabase(), size);
    const plan = { clients, sampleEvery: 1 };
    const subject = new LiveSubject(
      system,
      startEventLoad(system, eventsPerSecond),
      await LiveClients.create(system, servers, plan),
    );
    try {
      await subject.clients.connect();
      return subject;
    } catch (error) {
      await subject.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.load.stop();
    await this.clients.stop();
    await this.system.stop();
  }

  /** Sends events at a fixed rate, which the services reach without effort. */
  async measure(pace: Pace): Promise<Run> {
    this.load.start();
    const { received, seconds, latencyMs, ended, cpuSeconds } = await this.clients.measure(pace);
    await this.load.pause();
    const { load: _, ...ofServices } = cpuSeconds;
    return {
      cpuMicroseconds: cpuMicrosecondsPer(received, {}, ofServices),
      perSecond: received / seconds,
      p99: latencyMs.p99,
      failed: ended,
    };
  }
}

/**
 * Starts a gateway, an events service, two connectors, and two streamer monitors on a database that needs no migration. The unit of work is
 * the start of them all; `p99` is its duration.
 */
export async function measureStart(side: Side, servers: Servers): Promise<Run> {
  const { checkout, createDatabase } = side;
  const url = await createDatabase();
  const load = { pid: process.pid };
  const readServers = cpuReader({ pids: {}, servers, load });
  const before = readServers();
  const startedAt = performance.now();
  const system = await startSystem(side.servers, url, { gateways: 1, events: 1, checkout });
  try {
    const platform = await startPlatformSide(side.servers, url, system);
    const milliseconds = performance.now() - startedAt;
    const pidsOf = (processes: readonly { pid: number }[]): number[] => processes.map(({ pid }) => pid);
    const pids = {
      gateway: pidsOf(system.gateways),
      events: pidsOf(system.events),
      connectors: pidsOf(platform.connectors),
      monitors: pidsOf(platform.monitors),
    };
    // The new processes have used no CPU before.
    const { load: _, ...cpuMicroseconds } = cpuMicrosecondsPer(
      1,
      before,
      cpuReader({ pids, servers, load })(),
    );
    await platform.stop();
    return { cpuMicroseconds, perSecond: 1_000 / milliseconds, p99: milliseconds, failed: 0 };
  } finally {
    await system.stop();
  }
}
