import { isJsonObject, type JsonObject } from '@stream-events/contracts';
import { startSubjectLoad } from '../bench/measurement.js';
import { subjectOf } from '../bench/subject.js';
import { say, waitFor } from '../measure/progress.js';
import { formatCount, formatSeconds, type Section } from '../measure/report.js';
import { startPlatformSide } from '../system/platform-side.js';
import type { System } from '../system/system.js';
import { disturb, printDisturbance } from './disturbance.js';
import type { BenchBed } from './filled-stores.js';
import { pathOf, pathOfLink } from './list-paths.js';
import { loadPopulationOf, viewerId } from './population.js';

interface Erasure {
  /** Number of erased events. */
  events: number;
  /** Undefined if the erasure did not end within the limit. */
  ms: number | undefined;
  /** Number of the user's events that are still in the list after the erasure, up to one page. */
  left: number;
}

const eventsPerSecond = 500;
// The viewer with the most events: about 1 % of all.
const viewer = viewerId(0);
const limitMs = 1_800_000;

/** Erases the viewer with the most events, while events arrive. Changes the store, so it runs after most other parts. */
export async function measureErasure({ stores, isQuick }: BenchBed): Promise<Section> {
  const { result, disturbance } = await stores.withSystem('filled', async (system, url) => {
    // An erasure also needs the streamer monitor and the platform connector, which forget the user too.
    const platform = await startPlatformSide(stores.servers, url, system);
    const load = startSubjectLoad(subjectOf(system), {
      kind: 'notifications',
      connections: 256,
      perSecond: eventsPerSecond,
      population: loadPopulationOf(stores.populationOf('filled')),
    });
    try {
      return await disturb({ notifications: load }, isQuick, () => erase(system));
    } finally {
      await platform.stop();
    }
  });
  const { events, ms, left } = result;
  const time = ms === undefined ? 'not within the limit' : formatSeconds(ms);
  say(`erasing ${events} events: ${time}`);
  return {
    title: 'Erasing a viewer',
    paragraphs: [
      `The viewer with the most events is erased while ${eventsPerSecond} notifications per second arrive at fixed times. ${formatCount(events)} events were erased. Time from the request until the erasure ended: ${time}. Latencies count from the time when a notification was due:`,
      printDisturbance(disturbance),
    ],
    promises: [
      {
        promise: 'an erasure under load completes: none of the user’s events from before the request remain',
        measured: `${time}, ${formatCount(events)} events erased, ${left} left`,
        isKept: ms !== undefined && events > 0 && left === 0,
      },
    ],
  };
}

async function erase(system: System): Promise<Erasure> {
  const [requestedAt, startedAt] = [new Date().toISOString(), performance.now()];
  const { id } = await request(system, '/api/v1/erasures', { platform_user_id: viewer });
  const look = async (): Promise<JsonObject | undefined> => {
    const erasure = await request(system, `/api/v1/erasures/${String(id)}`);
    return erasure.status === 'done' ? erasure : undefined;
  };
  const done = await waitFor(look, { limitMs, everyMs: 250 });
  const ms = done && performance.now() - startedAt;
  const counts = isJsonObject(done?.counts) ? done.counts : {};
  const events = isJsonObject(counts.events) ? Number(counts.events.total) : 0;
  return { events, ms, left: await countLeft(system, requestedAt) };
}

/** Ignores events after the request, because new ones keep arriving. */
async function countLeft(system: System, until: string): Promise<number> {
  for (let path: string | undefined = pathOf({ user_id: viewer, until }); path !== undefined;) {
    const { results, next } = await request(system, path);
    if (Array.isArray(results) && results.length > 0) return results.length;
    path = typeof next === 'string' ? pathOfLink(next) : undefined;
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
