import { setTimeout as wait } from 'node:timers/promises';
import { FaultLoad } from '../chaos/fault-load.js';
import { Fleet } from '../fleet/fleet.js';
import { makeSmallEvent } from '../fleet/test-events.js';
import { cpuMicrosecondsPer, cpuReader } from '../measure/cpu-by-role.js';
import type { Servers } from '../system/servers.js';
import { registerUsers, type System } from '../system/system.js';
import type { Run } from './run.js';

const clients = 500;
const eventsPerSecond = 40;
// A user may have 50 connections.
const connectionsPerUser = 25;
const group = 'clients';
// A client is connected a moment before the gateway has checked its token and sends it events.
const settleSeconds = 2;
const pace = { warmUpSeconds: 4, seconds: 6 };

/** 500 WebSocket clients receive every event of a load at a fixed rate. The unit of work is one message to one client. */
export async function measureLive(system: System, servers: Servers): Promise<Run> {
  const { tokens } = await registerUsers(system, clients / connectionsPerUser);
  const [gateway] = system.gateways;
  if (!gateway) throw new Error('the system has no gateway');
  const fleet = Fleet.start();
  const load = new FaultLoad({
    ...system,
    gatewayUrls: [gateway.url],
    perSecond: eventsPerSecond,
    clients: 4,
    make: () => makeSmallEvent(),
  });
  try {
    await fleet.openCounting(group, {
      port: Number(new URL(gateway.url).port),
      path: '/ws/platform-events/',
      firstMessages: Array.from({ length: clients }, (_, index) =>
        JSON.stringify({ token: tokens[index % tokens.length] }),
      ),
      sampleEvery: 1,
      isLockstep: false,
    });
    load.start();
    await wait((settleSeconds + pace.warmUpSeconds) * 1_000);
    const pids = { gateway: [gateway.pid], events: system.events.map(({ pid }) => pid) };
    const readCpu = cpuReader({ pids, servers, load: fleet });
    await fleet.takeDeliveryCounts(group);
    const before = readCpu();
    await wait(pace.seconds * 1_000);
    const { received, seconds, latencyMs, ended } = await fleet.takeDeliveryCounts(group);
    const { load: _, ...cpuMicroseconds } = cpuMicrosecondsPer(received, before, readCpu());
    return { cpuMicroseconds, perSecond: received / seconds, p99: latencyMs.p99, failed: ended };
  } finally {
    await load.stop();
    await fleet.stop();
  }
}
