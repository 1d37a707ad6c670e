import { setTimeout as wait } from 'node:timers/promises';
import { say, waitFor } from '../measure/progress.js';
import { formatCount, formatSeconds, type KeptPromise, type Section } from '../measure/report.js';
import { quantile } from '../measure/quantile.js';
import { mapConcurrently } from './map-concurrently.js';
import type { PlatformBed } from './platform-bed.js';
import type { Cost, SimulatedSubscription } from './simulated-platform.js';

/** Active event types. Each subscription costs 1. */
export const types = ['stream.online', 'stream.offline'] as const;
// The simulator's rate limit for this part. With the real limit of 800 calls per minute, the 20,000 calls would take 25 min.
const raisedRateLimit = 600_000;
/** The platform's real rate limit in calls per minute: https://dev.twitch.tv/docs/api/guide/#how-it-works */
const realRateLimit = 800;
// Number of clients that add streamers at the same time, as in an import.
const concurrency = 16;
// Time limit for creating all subscriptions.
const fillLimitMs = 240_000;

/** The result of adding twice as many streamers as the limit allows. */
interface Subscribing {
  added: number;
  refused: Record<string, number>;
  addingMs: number;
  filledMs: number | undefined;
  costs: Cost[];
  /** Streamers with both subscriptions in the platform's list, and the number of other subscriptions in it. */
  subscribed: ReadonlySet<string>;
  others: number;
  /** Ids of the oldest streamers within the limit. */
  oldest: readonly string[];
}

/** Adds all streamers. Waits until the subscriptions reach the platform's limit. */
export async function runSubscribing(bed: PlatformBed): Promise<Section> {
  const { platform, client, size } = bed;
  const max = size.streamers; // each streamer needs two subscriptions, so half of the streamers fit
  await platform.setLimits({ rate_limit: raisedRateLimit, max_total_cost: max });
  await client.activateOnly(types);
  const users = await platform.addUsers(size.streamers);
  const watch = watchCosts(bed);
  try {
    const startedAt = performance.now();
    const refused = await addStreamers(
      bed,
      users.map(({ login }) => login),
    );
    const addingMs = performance.now() - startedAt;
    const count = Object.values(refused).reduce((sum, each) => sum + each, 0);
    say(`${size.streamers - count} streamers added in ${formatSeconds(addingMs)}`);
    const { isFilled, list } = await waitUntilFilled(bed, max);
    const filledMs = isFilled ? performance.now() - startedAt : undefined;
    say(
      isFilled
        ? `subscription limit reached after ${formatSeconds(filledMs ?? 0)}`
        : 'subscription limit not reached in time',
    );
    const streamers = await client.listStreamers();
    return report(max, {
      ...groupByStreamer(list),
      added: streamers.length,
      refused,
      addingMs,
      filledMs,
      costs: watch.costs,
      oldest: streamers.slice(0, max / types.length).map(({ platformId }) => platformId),
    });
  } finally {
    await watch.stop();
    await platform.setLimits({ rate_limit: realRateLimit });
  }
}

/** Adds the streamers. Counts responses other than 201 by status. */
async function addStreamers(
  { client }: PlatformBed,
  logins: readonly string[],
): Promise<Record<string, number>> {
  const refused: Record<string, number> = {};
  await mapConcurrently(logins, concurrency, async (login) => {
    const { status } = await client.addStreamer(login);
    if (status !== 201) refused[status] = (refused[status] ?? 0) + 1;
  });
  return refused;
}

/** Reads the total cost from the platform twice a second. */
function watchCosts({ platform }: PlatformBed): { costs: Cost[]; stop(): Promise<void> } {
  const costs: Cost[] = [];
  const ending = new AbortController();
  const watching = (async () => {
    while (!ending.signal.aborted) {
      costs.push(await platform.readCost());
      await wait(500);
    }
  })();
  watching.catch(() => undefined); // `stop` rethrows the error
  return {
    costs,
    stop: async () => {
      ending.abort();
      await watching;
    },
  };
}

/** Waits until the subscriptions reach the limit, or the time is up. Returns the platform's list of subscriptions. */
async function waitUntilFilled(
  { platform }: PlatformBed,
  max: number,
): Promise<{ isFilled: boolean; list: SimulatedSubscription[] }> {
  let lastSaid = performance.now();
  const list = await waitFor(
    async () => {
      const { total } = await platform.readCost();
      if (performance.now() - lastSaid > 10_000) {
        say(`cost ${total} of ${max}`);
        lastSaid = performance.now();
      }
      const all = total < max ? [] : await platform.readSubscriptions();
      return all.length >= max && all.every(({ status }) => status === 'enabled') ? all : undefined;
    },
    { limitMs: fillLimitMs, everyMs: 1_000 },
  );
  return { isFilled: list !== undefined, list: list ?? (await platform.readSubscriptions()) };
}

function groupByStreamer(list: readonly SimulatedSubscription[]): {
  subscribed: ReadonlySet<string>;
  others: number;
} {
  const typesOf = new Map<string, Set<string>>();
  for (const { type, status, condition } of list) {
    const userId = condition.broadcaster_user_id;
    if (userId === undefined || status !== 'enabled') continue;
    typesOf.set(userId, (typesOf.get(userId) ?? new Set()).add(type));
  }
  const complete = [...typesOf].filter(([, seen]) => types.every((type) => seen.has(type)));
  return {
    subscribed: new Set(complete.map(([userId]) => userId)),
    others: list.length - types.length * complete.length,
  };
}

function report(max: number, result: Subscribing): Section {
  const { added, addingMs } = result;
  const perSecond = Math.round((added / addingMs) * 1_000);
  return {
    title: 'More streamers than the limit allows',
    paragraphs: [
      `${formatCount(added)} streamers were added by \`POST /api/v1/streamers\`, with ${concurrency} concurrent requests, in ${formatSeconds(addingMs)}: ${formatCount(perSecond)} per second, each with a look-up on the platform. Two event types were active, stream.online and stream.offline, which cost 1 each; the platform's limit on the total cost was ${formatCount(max)}. The test raised the platform's rate limit during this part, so that the part took minutes instead of half an hour. Afterwards, the test restored the real limit, ${realRateLimit} calls per minute.`,
    ],
    promises: [...promiseSubscriptions(result), promiseCost(max, result)],
  };
}

function promiseSubscriptions({
  added,
  refused,
  filledMs,
  subscribed,
  others,
  oldest,
}: Subscribing): KeptPromise[] {
  const missing = oldest.filter((id) => !subscribed.has(id)).length;
  const time = filledMs === undefined ? 'not in time' : `after ${formatSeconds(filledMs)}`;
  return [
    {
      promise: 'Every streamer is added',
      measured: `${formatCount(added)}; refused: ${JSON.stringify(refused)}`,
      isKept: Object.keys(refused).length === 0,
    },
    {
      promise: `Exactly the oldest ${formatCount(oldest.length)} are subscribed, according to the platform's list`,
      measured: `${formatCount(subscribed.size)} are, ${formatCount(missing)} of the oldest are not, ${formatCount(others)} subscriptions are for other streamers; ${time}`,
      isKept: filledMs !== undefined && missing === 0 && others === 0 && subscribed.size === oldest.length,
    },
  ];
}

function promiseCost(max: number, { costs }: Subscribing): KeptPromise {
  const highest = quantile(
    costs.map(({ total }) => total),
    1,
  );
  return {
    promise: 'The total cost never exceeds the limit',
    measured: `at most ${formatCount(highest)} in ${formatCount(costs.length)} readings`,
    isKept: highest <= max,
  };
}
