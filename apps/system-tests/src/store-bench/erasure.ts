import { setTimeout as wait } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '@stream-events/contracts';
import { startSubjectLoad } from '../bench/measurement.js';
import { subjectOf } from '../bench/subject.js';
import { countFailed, type LoadCounts } from '../load/response-counter.js';
import { say, waitFor } from '../measure/progress.js';
import { atMost, formatCount, formatMs, formatSeconds, table, type Section } from '../measure/report.js';
import { startPlatformSide } from '../system/platform-side.js';
import type { System } from '../system/system.js';
import type { BenchBed } from './filled-stores.js';
import { pathOf } from './list-paths.js';
import { loadPopulationOf, viewerId, type Population } from './population.js';

interface Erasure {
  /** Number of erased events. */
  events: number;
  /** Undefined if the erasure did not end within the limit. */
  seconds: number | undefined;
  /** Number of the user's events that are still in the list after the erasure, up to one page. */
  left: number;
  before: LoadCounts;
  during: LoadCounts;
}

const eventsPerSecond = 500;
// The viewer with the most events: about 1 % of all.
const viewer = viewerId(0);
const goalFactor = 2;

/** Erases the viewer with the most events, while events arrive. Changes the store, so it runs after most other parts. */
export async function measureErasure({ stores, isQuick }: BenchBed): Promise<Section> {
  const erasure = await stores.withSystem('filled', async (system, url) => {
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
  const load = startSubjectLoad(subjectOf(system), {
    kind: 'notifications',
    connections: 256,
    perSecond: eventsPerSecond,
    population: loadPopulationOf(population),
  });
  await wait(isQuick ? 4_000 : 10_000);
  await load.takeCounts();
  await wait(isQuick ? 4_000 : 20_000);
  const before = await load.takeCounts();
  const [requestedAt, startedAt] = [new Date().toISOString(), performance.now()];
  const { id } = await request(system, '/api/v1/erasures', { platform_user_id: viewer });
  const done = await waitFor(
    async () => {
      const state = await request(system, `/api/v1/erasures/${String(id)}`);
      return state.status === 'done' ? state : undefined;
    },
    { limitMs: isQuick ? 120_000 : 1_800_000, everyMs: 250 },
  );
  const seconds = done && (performance.now() - startedAt) / 1_000;
  const during = await load.takeCounts();
  await load.stop();
  return { events: countErased(done), seconds, left: await countLeft(system, requestedAt), before, during };
}

/** Ignores events after the request, because new ones keep arriving. */
async function countLeft(system: System, until: string): Promise<number> {
  for (let path: unknown = pathOf({ user_id: viewer, until }); typeof path === 'string';) {
    const { results, next } = await request(system, path);
    if (Array.isArray(results) && results.length > 0) return results.length;
    path = typeof next === 'string' ? next.replace(/^https?:\/\/[^/]+/, '') : undefined;
  }
  return 0;
}

/** Sends a GET request, or a POST with the body. */
async function request({ gateways, token }: System, path: string, body?: object): Promise<JsonObject> {
  const response = await fetch(`${gateways[0]?.url}${path}`, {
    headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  const json: unknown = await response.json();
  if (!response.ok || !isJsonObject(json))
    throw new Error(`${path} returned ${response.status}: ${JSON.stringify(json)}`);
  return json;
}

function countErased(erasure: JsonObject | undefined): number {
  const counts = isJsonObject(erasure?.counts) ? erasure.counts : {};
  return isJsonObject(counts.events) ? Number(counts.events.total) : 0;
}

function print({ events, seconds, left, before, during }: Erasure): Section {
  const row = (name: string, counts: LoadCounts): string[] => [
    name,
    formatCount(counts.succeeded / counts.seconds),
    ...[counts.latencyMs.p50, counts.latencyMs.p99, counts.latencyMs.max].map(formatMs),
    formatCount(countFailed(counts)),
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
      atMost(
        `ingest during the erasure: p99 ≤ ${goalFactor} × the p99 before`,
        during.latencyMs.p99 / before.latencyMs.p99,
        goalFactor,
      ),
    ],
  };
}
