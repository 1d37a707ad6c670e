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
import { eachOf } from './each-of.js';
import type { Streamer } from './gateway-client.js';
import type { PlatformBed } from './platform-bed.js';
import { readStreamEvents } from './stream-events.js';

/** What happens to the platform's messages, as probabilities. */
const faults = { lose: 0.1, duplicate: 0.2, reorder: 0.2 };
/** Every streamer changes about once in this time, and not sooner than after the second one. */
const changeEveryMs = 50_000;
// A stream that was over before any poll, and whose end nobody told, is given up only after the 5 minutes by which the
// platform's list may lag: that is no matter of two minutes.
const shortestMs = 20_000;
/** After which everything is as it truly was. */
const reconciledMs = 90_000;
// Of the streamers that change, one in so many has no subscription.
const polledOnlyOneIn = 5;
const concurrency = 8;
const maxExamples = 5;

interface Changing {
  streamers: number;
  polledOnly: number;
  changes: number;
  seconds: number;
  comparison: Comparison;
  /** Until everything was as promised; undefined when it was not in time. */
  reconciledMs: number | undefined;
  /** How late streams were found that only polls could find. */
  sightingsMs: number[];
}

/** Lets streamers go on and off at random while messages are lost, doubled and reordered; then everything must be right. */
export async function runChanging(bed: PlatformBed): Promise<Section> {
  const { platform, size } = bed;
  const streamers = chooseStreamers(await bed.client.listStreamers(), size.changingStreamers);
  const begunAt = Date.now();
  await platform.setNotificationFaults(faults);
  const changes = await change(bed, streamers);
  await platform.setNotificationFaults({});
  say(`${changes} changes; now calm`);
  const calmAt = performance.now();
  let comparison = await compareAll(bed, streamers, begunAt);
  const isReconciled = await waitFor(
    async () => {
      comparison = await compareAll(bed, streamers, begunAt);
      return comparison.differences.length === 0 ? true : undefined;
    },
    { limitMs: reconciledMs, everyMs: 2_000 },
  );
  const reconciled = isReconciled ? performance.now() - calmAt : undefined;
  say(`differences: ${comparison.differences.length}, after ${formatSeconds(performance.now() - calmAt)}`);
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

/** The oldest, which have subscriptions, and some of the newest, which have none. */
function chooseStreamers(streamers: readonly Streamer[], count: number): Streamer[] {
  const newest = Math.floor(count / polledOnlyOneIn);
  return [...streamers.slice(0, count - newest), ...streamers.slice(-newest)];
}

/** Says how often somebody went on or off. */
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
  const looks = new Map<string, number[]>();
  for (const { at, userIds } of side.tap.looks.filter((look) => look.at >= since))
    for (const userId of userIds) looks.set(userId, [...(looks.get(userId) ?? []), at]);
  const comparisons = await eachOf(streamers, concurrency, async ({ id, platformId }) =>
    compareStreams({
      truth: await platform.readStreams(platformId),
      recorded: await client.readStreams(id),
      events: events.get(platformId) ?? [],
      looks: looks.get(platformId) ?? [],
    }),
  );
  return {
    differences: comparisons.flatMap(({ differences }) => differences),
    streams: sum(comparisons.map(({ streams }) => streams)),
    recorded: sum(comparisons.map(({ recorded }) => recorded)),
    unknowable: sum(comparisons.map(({ unknowable }) => unknowable)),
    foundByPolls: comparisons.flatMap(({ foundByPolls }) => foundByPolls),
    untoldEndsMs: comparisons.flatMap(({ untoldEndsMs }) => untoldEndsMs),
    toldErrorsMs: comparisons.flatMap(({ toldErrorsMs }) => toldErrorsMs),
  };
}

async function readSightings(
  { client }: PlatformBed,
  { foundByPolls }: Comparison,
  streamers: readonly Streamer[],
): Promise<number[]> {
  const idOf = new Map(streamers.map(({ id, platformId }) => [platformId, id]));
  const sightings = await eachOf(foundByPolls, concurrency, async ({ stream, truth }) => {
    const seenAt = await client.readFirstSighting(idOf.get(truth.userId) ?? '', stream.id);
    return seenAt === undefined ? [] : [Math.max(0, seenAt - truth.startedAt)];
  });
  return sightings.flat();
}

function report(result: Changing): Section {
  const { comparison, sightingsMs, streamers, polledOnly, changes, seconds } = result;
  const { differences, streams, recorded, unknowable, untoldEndsMs, toldErrorsMs } = comparison;
  const percent = (share: number): string => `${share * 100} %`;
  return {
    title: 'Streams under load',
    paragraphs: [
      `${formatCount(streamers)} of the streamers, ${formatCount(polledOnly)} of them without subscriptions, went on and off at random on the platform: ${formatCount(changes)} changes in ${seconds} s. Of the platform's messages ${percent(faults.lose)} were lost, ${percent(faults.duplicate)} sent twice and ${percent(faults.reorder)} overtaken by the next one of their channel. Each stream and each pause took at least ${shortestMs / 1_000} s. Then it was calm, and the streams by the API were compared with those that there truly were.`,
      `A stream cannot be known when no message of its beginning has arrived and no call of the platform fell into it. Times of messages must agree to ${timeToleranceMs / 1_000} s (the API tells seconds, cut off); an end that no message told must be known by the next word of the platform: a poll within ${pollToleranceMs / 1_000} s, or the beginning or end of a later stream.`,
      table(
        ['', 'streams', 'median', 'max'],
        [
          ['that there truly were', formatCount(streams), '', ''],
          ['recorded', formatCount(recorded), '', ''],
          ['that nobody could know', formatCount(unknowable), '', ''],
          [
            'found by polling only: so late',
            formatCount(comparison.foundByPolls.length),
            ...medianAndMax(sightingsMs),
          ],
          [
            'whose end no message told: recorded so late',
            formatCount(untoldEndsMs.length),
            ...medianAndMax(untoldEndsMs),
          ],
          [
            'times that messages told: off by',
            formatCount(toldErrorsMs.length),
            ...medianAndMax(toldErrorsMs),
          ],
        ],
      ),
      ...describeDifferences(differences),
    ],
    promises: [
      {
        promise: `${reconciledMs / 1_000} s after it is calm, every stream that could be known is recorded once, none runs that does not, starts and ends are right`,
        measured:
          result.reconciledMs === undefined
            ? `${formatCount(differences.length)} differences`
            : `so after ${formatSeconds(result.reconciledMs)}`,
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
  return [['Differences that remained:', '', ...lines].join('\n')];
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
