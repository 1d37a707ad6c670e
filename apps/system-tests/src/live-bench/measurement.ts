import type { Pace } from '../bench/measurement.js';
import { FaultLoad } from '../chaos/fault-load.js';
import { makeSmallEvent } from '../fleet/test-events.js';
import { say } from '../measure/progress.js';
import { DirectPublisher } from '../system/direct-publisher.js';
import type { Servers } from '../system/servers.js';
import { startSystem, type System } from '../system/system.js';
import { LiveClients, type ClientsPlan, type LiveRun } from './live-clients.js';

export interface LivePlan extends ClientsPlan, Pace {
  rounds: number;
  /** Default: as many as the slowest client receives. */
  eventsPerSecond?: number;
}

export interface LiveRound extends LiveRun {
  kibPerClient: number;
}

// The gateway must never wait for the stream, but at most 150 KB should wait for a client.
const maxAhead = 256;
const batch = 32;

/** Starts new services, because clients change the memory use of a gateway. Connects new clients in each round. */
export async function measureLive(
  servers: Servers,
  databaseName: string,
  plan: LivePlan,
): Promise<LiveRound[]> {
  const databaseUrl = await servers.createDatabase(databaseName);
  const system = await startSystem(servers, databaseUrl, { gateways: 1, events: 1 });
  const clients = await LiveClients.create(system, servers, plan);
  const results: LiveRound[] = [];
  try {
    for (let round = 1; round <= plan.rounds; round += 1) {
      await clients.connect();
      const feed = await startFeed({ servers, system, clients }, plan.eventsPerSecond);
      const run = await clients.measure(plan);
      const { kibPerClient } = clients;
      await feed.stop();
      await clients.disconnect();
      results.push({ ...run, kibPerClient });
      say(
        `${databaseName}, round ${round}/${plan.rounds}: ${Math.round(run.received / run.seconds)} messages/s, p99 ${run.latencyMs.p99.toFixed(1)} ms, ${run.ended} ended`,
      );
    }
    return results;
  } finally {
    await clients.stop();
    await system.stop();
  }
}

interface LiveBed {
  servers: Servers;
  system: System;
  clients: LiveClients;
}

/** Sends events until `stop` is called. `stop` waits for the last one. */
async function startFeed(bed: LiveBed, eventsPerSecond: number | undefined) {
  if (eventsPerSecond === undefined) return startPublishing(bed);
  const load = startEventLoad(bed.system, eventsPerSecond);
  load.start();
  return load;
}

/** Events at a fixed rate, on the whole way: webhook or API, store, stream, clients. */
export function startEventLoad(system: System, eventsPerSecond: number): FaultLoad {
  return new FaultLoad({
    ...system,
    gatewayUrls: system.gateways.map(({ url }) => url),
    perSecond: eventsPerSecond,
    // At 10 requests per second, each client has time to wait for its replies, which take about 10 ms.
    clients: Math.max(4, Math.ceil(eventsPerSecond / 10)),
    make: () => makeSmallEvent(),
  });
}

/** Publishes as fast as the slowest client receives. Bypasses the API and the store, which could not reach this rate. */
async function startPublishing({ servers, clients }: LiveBed): Promise<{ stop(): Promise<void> }> {
  const publisher = await DirectPublisher.connect(servers);
  let isStopped = false;
  const publish = async (): Promise<void> => {
    for (let published = 0; !isStopped;) {
      if (published + batch - clients.slowest > maxAhead) {
        await clients.waitForProgress();
        continue;
      }
      await publisher.publish(Array.from({ length: batch }, () => makeSmallEvent('keyed post')));
      published += batch;
    }
  };
  const running = publish();
  // Prevent an unhandled rejection: `stop` rethrows the error.
  running.catch(() => undefined);
  return {
    stop: async () => {
      isStopped = true;
      await running;
      await publisher.close();
    },
  };
}
