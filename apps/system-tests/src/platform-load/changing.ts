import { setTimeout as wait } from 'node:timers/promises';
import { table } from '../measure/report.js';
import { say, waitFor } from '../measure/progress.js';
import { formatCount, formatSeconds, type Section } from '../measure/report.js';
import { median, quantile } from '../measure/quantile.js';
import {
  compareStreams,
  pollToleranceMs,
  timeToleranceMs,
  type Comparison,
  type Difference,
} from './compare-streams.js';
import { mapConcurrently } from './map-concurrently.js';
import type { Streamer } from './gateway-client.js';
import type { PlatformBed } from './platform-bed.js';
import { readStreamEvents } from './stream-events.js';

/** Fault probabilities for the platform's messages. */
const faults = { lose: 0.1, duplicate: 0.2, reorder: 0.2 };
/** Average time between two changes of a streamer. The minimum is `shortestMs`. */
const changeEveryMs = 50_000;
// Shortest stream. A shorter one could end before any poll sees it. If its offline message is also lost, the monitor ends the stream only
// after the listing lag of 5 min, when this part is over.
const shortestMs = 20_000;
/** Time limit until all records match the true streams. */
const reconcileLimitMs = 90_000;
// One in five changing streamers has no subscription.
const polledOnlyOneIn = 5;
const concurrency = 8;
const maxExamples = 5;

interface Changing {
  streamers: number;
  polledOnly: number;
  changes: number;
  seconds: number;
  comparison: Comparison;
  /** Time until all records matched the true streams. Undefined if the limit passed first. */
  reconciledMs: number | undefined;
  /** For each stream that only polls could find: time from its start until a poll found it. */
  sightingsMs: number[];
}

/** Starts and ends streams at random, while messages get lost, duplicated, and reordered. Then checks that all records are correct. */
export async function runChanging(bed: PlatformBed): Promise<Section> {
  const { platform, size } = bed;
  const streamers = chooseStreamers(await bed.client.listStreamers(), size.changingStreamers);
  const startedAt = Date.now();
  await platform.setNotificationFaults(faults);
  const changes = await change(bed, streamers);
  await platform.setNotificationFaults({});
  say(`${changes} changes; waiting for the records to agree`);
  const endedAt = performance.now();
  let comparison = await compareAll(bed, streamers, startedAt);
  const isReconciled = await waitFor(
    async () => {
      comparison = await compareAll(bed, streamers, startedAt);
      return comparison.differences.length === 0 ? true : undefined;
    },
    { limitMs: reconcileLimitMs, everyMs: 2_000 },
  );
  const reconciled = isReconciled ? performance.now() - endedAt : undefined;
  say(`differences: ${comparison.differences.length}, after ${formatSeconds(performance.now() - endedAt)}`);
  return report({
    streamers: streamers.length,
    polledOnly: Math.floor(size.changingStreamers / polledOnlyOneIn),
    changes,
    seconds: size.changingSeconds,
    comparison,
    reconciledMs: reconciled,
    sightingsMs: await readSightings(bed, comparison, streamers),
  });
}

/** Picks the oldest streamers, which have subscriptions, and some of the newest, which have none. */
function chooseStreamers(streamers: readonly Streamer[], count: number): Streamer[] {
  const newest = Math.floor(count / polledOnlyOneIn);
  return [...streamers.slice(0, count - newest), ...streamers.slice(-newest)];
}

/** Starts and ends streams. Returns the number of changes. */
async function change({ platform, size }: PlatformBed, streamers: readonly Streamer[]): Promise<number> {
  const changedAt = new Map<string, number>();
  const live = new Set<string>();
  const until = performance.now() + size.changingSeconds * 1_000;
  let changes = 0;
  while (performance.now() < until) {
    const now = performance.now();
    const { platformId: userId = '' } = streamers[Math.floor(Math.random() * streamers.length)] ?? {};
    if (now - (changedAt.get(userId) ?? -Infinity) >= shortestMs) {
      await (live.has(userId) ? platform.goOffline(userId) : platform.goLive(userId));
      if (!live.delete(userId)) live.add(userId);
      changedAt.set(userId, now);
      changes += 1;
    }
    await wait(changeEveryMs / streamers.length);
  }
  return changes;
}

async function compareAll(
  { side, client, platform, databaseUrl }: PlatformBed,
  streamers: readonly Streamer[],
  since: number,
): Promise<Comparison> {
  const events = groupBy(await readStreamEvents(databaseUrl, since), ({ userId }) => userId);
  const lookUps = new Map<string, number[]>();
  for (const { at, userIds } of side.tap.lookUps.filter((lookUp) => lookUp.at >= since))
    for (const userId of userIds) lookUps.set(userId, [...(lookUps.get(userId) ?? []), at]);
  const comparisons = await mapConcurrently(streamers, concurrency, async ({ id, platformId }) =>
    compareStreams({
      truth: await platform.readStreams(platformId),
      recorded: await client.readStreams(id),
      events: events.get(platformId) ?? [],
      lookUps: lookUps.get(platformId) ?? [],
    }),
  );
  return {
    differences: comparisons.flatMap(({ differences }) => differences),
    streams: sum(comparisons.map(({ streams }) => streams)),
    recorded: sum(comparisons.map(({ recorded }) => recorded)),
    unknowable: sum(comparisons.map(({ unknowable }) => unknowable)),
    foundByPolls: comparisons.flatMap(({ foundByPolls }) => foundByPolls),
    unreportedEndsMs: comparisons.flatMap(({ unreportedEndsMs }) => unreportedEndsMs),
    reportedErrorsMs: comparisons.flatMap(({ reportedErrorsMs }) => reportedErrorsMs),
  };
}

async function readSightings(
  { client }: PlatformBed,
  { foundByPolls }: Comparison,
  streamers: readonly Streamer[],
): Promise<number[]> {
  const idOf = new Map(streamers.map(({ id, platformId }) => [platformId, id]));
  const sightings = await mapConcurrently(foundByPolls, concurrency, async ({ stream, truth }) => {
    const seenAt = await client.readFirstSighting(idOf.get(truth.userId) ?? '', stream.id);
    return seenAt === undefined ? [] : [Math.max(0, seenAt - truth.startedAt)];
  });
  return sightings.flat();
}

function report(result: Changing): Section {
  const { comparison, sightingsMs, streamers, polledOnly, changes, seconds } = result;
  const { differences, streams, recorded, unknowable, unreportedEndsMs, reportedErrorsMs } = comparison;
  const percent = (share: number): string => `${share * 100} %`;
  return {
    title: 'Streams under load',
    paragraphs: [
      `${formatCount(streamers)} of the streamers (${formatCount(polledOnly)} without subscriptions) went live and offline at random on the platform: ${formatCount(changes)} changes in ${seconds} s. The platform lost ${percent(faults.lose)} of its messages, sent ${percent(faults.duplicate)} twice, and delivered ${percent(faults.reorder)} after the next message of the same channel. Each stream and each pause lasted at least ${shortestMs / 1_000} s. After the changes, the streams in the API were compared with the true streams.`,
      `The service cannot know a stream whose online message was lost if no poll happened during the stream. Times from messages must agree within ${timeToleranceMs / 1_000} s, because the API truncates times to seconds. When no message reports the end of a stream, the service must know the end by the platform’s next report: a poll within ${pollToleranceMs / 1_000} s, or the start or end of a later stream.`,
      table(
        ['', 'streams', 'median', 'max'],
        [
          ['true streams', formatCount(streams), '', ''],
          ['recorded', formatCount(recorded), '', ''],
          ['could not be known', formatCount(unknowable), '', ''],
          [
            'found only by polling: delay',
            formatCount(comparison.foundByPolls.length),
            ...medianAndMax(sightingsMs),
          ],
          [
            'end without a message: delay',
            formatCount(unreportedEndsMs.length),
            ...medianAndMax(unreportedEndsMs),
          ],
          [
            'times from messages: error',
            formatCount(reportedErrorsMs.length),
            ...medianAndMax(reportedErrorsMs),
          ],
        ],
      ),
      ...describeDifferences(differences),
    ],
    promises: [
      {
        promise: `${reconcileLimitMs / 1_000} s after the last change, every stream that could be known is recorded once, no ended stream is still running, and starts and ends are correct`,
        measured:
          result.reconciledMs === undefined
            ? `${formatCount(differences.length)} differences`
            : `reached after ${formatSeconds(result.reconciledMs)}`,
        isKept: result.reconciledMs !== undefined,
      },
    ],
  };
}

function describeDifferences(differences: readonly Difference[]): string[] {
  if (differences.length === 0) return [];
  const lines = [...groupBy(differences, ({ kind }) => kind)].map(([kind, some]) => {
    const examples = some.slice(0, maxExamples).map(({ streamId, ms }) => {
      return ms === undefined ? streamId : `${streamId} (${formatSeconds(ms)})`;
    });
    return `- ${some.length} × ${kind}: ${examples.join(', ')}`;
  });
  return [['Remaining differences:', '', ...lines].join('\n')];
}

function medianAndMax(times: readonly number[]): string[] {
  return times.length === 0 ? ['', ''] : [formatSeconds(median(times)), formatSeconds(quantile(times, 1))];
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
