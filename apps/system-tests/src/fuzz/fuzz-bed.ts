import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceProcess } from '@stream-events/testing';
import { memoryMegabytes } from '../measure/processes.js';
import { waitFor } from '../measure/progress.js';
import { startPlatformSide, type PlatformSide } from '../system/platform-side.js';
import { startServers, type Servers } from '../system/servers.js';
import { startSystem, type System } from '../system/system.js';

export interface Memory {
  /** JavaScript heap after garbage collection, in MiB. */
  heap: number;
  /** Private memory of the process, in MiB. */
  process: number;
}

// SIGUSR2 makes a service collect garbage, so that the measured heap contains only objects in use.
const collectOnSignal = `data:text/javascript,${encodeURIComponent('process.on("SIGUSR2", () => globalThis.gc())')}`;
const nodeOptions = ['--expose-gc', '--import', collectOnSignal];
// Time for one garbage collection; 100 MiB take about 0.1 s. A second round collects what finalizers have released in the first.
const collectMs = 500;
const lineStart = /^\{"level":(\d+)/;
const errorLevel = 50;

/** One gateway, one events service, the simulated platform, two connectors, and two monitors, each as a process. */
export class FuzzBed {
  /** Number of characters of each service's output that have already been searched. */
  private readonly searched = new Map<ServiceProcess, number>();

  private constructor(
    readonly servers: Servers,
    readonly databaseUrl: string,
    readonly system: System,
    readonly platform: PlatformSide,
  ) {}

  static async start(): Promise<FuzzBed> {
    const servers = await startServers();
    try {
      const databaseUrl = await servers.createDatabase('fuzz');
      const system = await startSystem(servers, databaseUrl, { gateways: 1, events: 1, nodeOptions });
      const platform = await startPlatformSide(servers, databaseUrl, system);
      return new FuzzBed(servers, databaseUrl, system, platform);
    } catch (error) {
      await servers.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.platform.stop();
    await this.system.stop();
    await this.servers.stop();
  }

  get url(): string {
    return this.system.gateways[0]?.url ?? '';
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** All services except the simulator. */
  get services(): readonly ServiceProcess[] {
    return [
      ...this.system.gateways,
      ...this.system.events,
      ...this.platform.connectors,
      ...this.platform.monitors,
    ];
  }

  /** Memory after garbage collection, by service name and index. */
  async measureMemory(): Promise<Map<string, Memory>> {
    for (let round = 0; round < 2; round += 1) {
      for (const service of this.services) process.kill(service.pid, 'SIGUSR2');
      await wait(collectMs);
    }
    const entries = this.services.map(async (service, index): Promise<[string, Memory]> => {
      const heap = (await service.metric('nodejs_heap_size_used_bytes')) / 1024 ** 2;
      return [`${service.app} ${index}`, { heap, process: memoryMegabytes(service.pid) }];
    });
    return new Map(await Promise.all(entries));
  }

  /** Finds faults since the last call: services that ended or are not ready, errors in logs, and output that is not a log line. */
  async findFaults(): Promise<string[]> {
    const faults = await Promise.all(this.services.map((service) => this.findFaultsOf(service)));
    return faults.flat();
  }

  private async findFaultsOf(service: ServiceProcess): Promise<string[]> {
    const { app, output } = service;
    const fresh = output.slice(this.searched.get(service) ?? 0);
    this.searched.set(service, output.length);
    if (!service.isRunning) return [`${app} has ended: ${fresh.slice(-2_000)}`];
    const lines = fresh.split('\n').filter(isFault);
    return [
      ...((await isReady(service)) ? [] : [`${app} is not ready`]),
      ...lines.slice(0, 5).map((line) => `${app} logged: ${line.slice(0, 1_000)}`),
      ...(lines.length > 5 ? [`${app} logged ${lines.length - 5} more errors`] : []),
    ];
  }
}

/** Errors and non-log lines are faults. Errors about dead letters are not: unreadable messages must become dead letters. */
function isFault(line: string): boolean {
  const level = lineStart.exec(line)?.[1];
  return (
    line.trim() !== '' &&
    (level === undefined || Number(level) >= errorLevel) &&
    !line.includes('keeping the message as a dead letter')
  );
}

/** Waits up to 20 s, because a service needs time to recover from overload. */
async function isReady({ adminUrl }: ServiceProcess): Promise<boolean> {
  const check = async (): Promise<true | undefined> =>
    (await fetch(`${adminUrl}/health/ready`)).ok ? true : undefined;
  return (await waitFor(check, { limitMs: 20_000, everyMs: 500 })) === true;
}
