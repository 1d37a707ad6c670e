import { setTimeout as wait } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '@stream-events/contracts';
import { startOpenLoop } from '../load/load.js';
import type { OpenLoopCounts } from '../load/open-loop-generator.js';
import { say, waitFor } from '../measure/progress.js';
import { formatCount, formatSeconds, table, type Section } from '../measure/report.js';
import { startPlatformSide } from '../system/platform-side.js';
import type { System } from '../system/system.js';
import { portOf, withSystem, type BenchBed } from './bench-bed.js';
import { ListClient } from './list-client.js';
import { loadPopulationOf, viewerId, type Population } from './population.js';

interface Erasure {
  /** Number of erased events. */
  events: number;
  /** Undefined if the erasure did not end within the limit. */
  seconds: number | undefined;
  /** Number of the user's events that are still in the list after the erasure. */
  left: number;
  before: OpenLoopCounts;
  during: OpenLoopCounts;
}

const eventsPerSecond = 500;
const connections = 256;
// The viewer with the most events: about 1 % of all.
const viewer = viewerId(0);
const erasureLimitMs = { quick: 120_000, whole: 1_800_000 };
const goalFactor = 2;

/** Erases the viewer with the most events, while events arrive. Changes the store, so it runs after most other parts. */
export async function measureErasure({ versions, isQuick }: BenchBed): Promise<Section> {
  const [version] = versions;
  if (!version) throw new Error('there is no version to measure');
  const { stores } = version;
  const url = await stores.databaseOf('filled');
  const erasure = await withSystem(version, url, async (system) => {
    // An erasure also needs the streamer monitor and the platform connector, which forget the user too.
    const platform = await startPlatformSide(stores.servers, url, system);
    try {
      return await erase(system, stores.populationOf('filled'), isQuick);
    } finally {
      await platform.stop();
    }
  });
  say(`erasing ${erasure.events} events: ${erasure.seconds?.toFixed(0)} s`);
  return print(erasure);
}

async function erase(system: System, population: Population, isQuick: boolean): Promise<Erasure> {
  const load = startOpenLoop({
    kind: 'notifications',
    ports: [portOf(system)],
    webhookSecret: system.webhookSecret,
    token: system.token,
    connections,
    perSecond: eventsPerSecond,
    population: loadPopulationOf(population),
  });
  await wait(isQuick ? 4_000 : 10_000);
  await load.takeCounts();
  await wait(isQuick ? 4_000 : 20_000);
  const before = await load.takeCounts();
  const [requestedAt, startedAt] = [new Date().toISOString(), performance.now()];
  const { id } = await request(system, 'POST', '/api/v1/erasures', { platform_user_id: viewer });
  const done = await waitFor(
    async () => {
      const state = await request(system, 'GET', `/api/v1/erasures/${String(id)}`);
      return state.status === 'done' ? state : undefined;
    },
    { limitMs: isQuick ? erasureLimitMs.quick : erasureLimitMs.whole, everyMs: 250 },
  );
  const seconds = done && (performance.now() - startedAt) / 1_000;
  const during = await load.takeCounts();
  await load.stop();
  const left = await countLeft(system, requestedAt);
  return { events: countEvents(done), seconds, left, before, during };
}

/**
 * Counts the viewer's old events that are still in the list, up to one page. Ignores events after the request, because new ones keep
 * arriving.
 */
async function countLeft(system: System, until: string): Promise<number> {
  const client = new ListClient(portOf(system), system.token);
  let page = await client.first({ user_id: viewer, until });
  while (page.events === 0 && page.next !== null) page = await client.read(page.next);
  client.close();
  if (page.status !== 200)
    throw new Error(`the request for the events of the erased viewer returned ${page.status}`);
  return page.events;
}

async function request(system: System, method: string, path: string, body?: object): Promise<JsonObject> {
  const response = await fetch(`${system.gateways[0]?.url}${path}`, {
    method,
    headers: { authorization: `Token ${system.token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  const json: unknown = await response.json();
  if (!response.ok || !isJsonObject(json))
    throw new Error(`${method} ${path} returned ${response.status}: ${JSON.stringify(json)}`);
  return json;
}

function countEvents(erasure: JsonObject | undefined): number {
  const counts = isJsonObject(erasure?.counts) ? erasure.counts : {};
  return isJsonObject(counts.events) ? Number(counts.events.total) : 0;
}

function print({ events, seconds, left, before, during }: Erasure): Section {
  const ratio = during.latencyMs.p99 / before.latencyMs.p99;
  const row = (name: string, counts: OpenLoopCounts): string[] => [
    name,
    formatCount(counts.succeeded / counts.seconds),
    ...[counts.latencyMs.p50, counts.latencyMs.p99, counts.latencyMs.max].map((ms) => `${ms.toFixed(1)} ms`),
    formatCount(Object.values(counts.failed).reduce((sum, count) => sum + count, 0)),
  ];
  const time = seconds === undefined ? 'not within the limit' : formatSeconds(seconds * 1_000);
  return {
    title: 'Erasing a viewer',
    paragraphs: [
      `The viewer with the most events is erased while ${eventsPerSecond} notifications per second arrive at fixed times. ${formatCount(events)} events were erased. Time from the request until the erasure ended: ${time}. Latencies count from the time when a notification was due:`,
      table(
        ['', 'events/s', 'p50', 'p99', 'longest', 'failed'],
        [row('before', before), row('during', during)],
      ),
    ],
    promises: [
      {
        promise: 'an erasure under load completes: none of the user’s events from before the request remain',
        measured: `${time}, ${formatCount(events)} events erased, ${left} left`,
        isKept: seconds !== undefined && events > 0 && left === 0,
      },
      {
        promise: `ingest during the erasure: p99 < ${goalFactor} × the p99 before`,
        measured: `${ratio.toFixed(2)} × (${during.latencyMs.p99.toFixed(1)} ms)`,
        isKept: ratio < goalFactor,
      },
    ],
  };
}
