import { cpuMicrosecondsPer, cpuReader } from '../measure/cpu-by-role.js';
import { cpuSeconds } from '../measure/processes.js';
import { startPlatformSide } from '../system/platform-side.js';
import type { Servers } from '../system/servers.js';
import { startSystem } from '../system/system.js';
import type { Run } from './run.js';
import type { Side } from './side.js';

/**
 * Starts a gateway, an events service, two connectors, and two streamer monitors on a database that needs no migration. The unit of work is
 * the start of them all; `p99` is its duration.
 */
export async function measureStart(side: Side, servers: Servers): Promise<Run> {
  const { checkout, createDatabase } = side;
  const url = await createDatabase();
  const readServers = cpuReader({ pids: {}, servers, load: { pid: process.pid } });
  const before = readServers();
  const startedAt = performance.now();
  const system = await startSystem(side.servers, url, { gateways: 1, events: 1, checkout });
  try {
    const platform = await startPlatformSide(side.servers, url, system);
    const milliseconds = performance.now() - startedAt;
    const { load: _, ...ofServers } = cpuMicrosecondsPer(1, before, readServers());
    const ofAll = (processes: readonly { pid: number }[]): number =>
      1e6 * processes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
    const cpuMicroseconds = {
      gateway: ofAll(system.gateways),
      events: ofAll(system.events),
      connectors: ofAll(platform.connectors),
      monitors: ofAll(platform.monitors),
      ...ofServers,
    };
    await platform.stop();
    return { cpuMicroseconds, perSecond: 1_000 / milliseconds, p99: milliseconds, failed: 0 };
  } finally {
    await system.stop();
  }
}
