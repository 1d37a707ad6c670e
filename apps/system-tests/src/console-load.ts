import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { FeedPage, type FeedState } from './console-load/feed-page.js';
import { startOpenLoop } from './load/load.js';
import { say } from './measure/progress.js';
import { median, quantile } from './measure/quantile.js';
import { formatCount, report, table, type Section, type SystemTest } from './measure/report.js';
import { startServers } from './system/servers.js';
import { startSystem } from './system/system.js';

// npm run load:console: opens the console's Events page in Chromium while many events arrive, and writes docs/console-load.md. --quick runs
// a short version, prints the result, and leaves the page unchanged.

const test: SystemTest = {
  title: 'Console load test',
  command: 'load:console',
  page: 'console-load.md',
  setting:
    'One gateway and one events service, each in its own process, and headless Chromium, which draws without a graphics card. Servers, services, load, and browser share one machine.',
};
const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });

const perSecond = 200;
// Long enough to fill the feed to its maximum number of rows, and for V8 to compile the hot code.
const warmUpSeconds = flags.quick ? 8 : 20;
const roundSeconds = 10;
const inputEveryMs = 500;
const maxInputMs = 100;
// Limit for heap growth. Between rounds, the heap varies by 10 % with the number of requests in flight.
const maxGrowth = 1.1;
const minLoad = 0.95;

interface Round {
  events: number;
  frames: number[];
  inputs: number[];
  heapMegabytes: number;
  elements: number;
}

/** What the user does while events arrive. */
interface Phase {
  title: string;
  text: string;
  rounds: number;
  /** Presses a key, twice a second. */
  press: (page: FeedPage, count: number) => Promise<void>;
  feed: FeedState;
}

const phases: readonly Phase[] = [
  {
    title: 'Feed shows new events',
    text: 'New events appear at the top, and the user types into a filter.',
    rounds: flags.quick ? 1 : 6,
    press: (page, count) => page.type(count % 2 === 0 ? 'm' : 'Backspace'),
    feed: 'follows',
  },
  {
    title: 'Feed holds new events back',
    text: 'The user moves through the events with the keys j and k, and inspects each event. The console counts new events instead of showing them.',
    rounds: flags.quick ? 1 : 6,
    press: (page, count) => page.select(count % 2 === 0 ? 'j' : 'k'),
    feed: 'waits',
  },
];

const startedAt = performance.now();
const servers = await startServers();
try {
  const system = await startSystem(servers, await servers.createDatabase('console_load'), {
    gateways: 1,
    events: 1,
  });
  const page = await FeedPage.open(system);
  const load = startOpenLoop({
    kind: 'notifications',
    ports: system.gateways.map(({ url }) => Number(new URL(url).port)),
    webhookSecret: system.webhookSecret,
    token: system.token,
    connections: 16,
    perSecond,
  });
  const sections: Section[] = [];
  for (const phase of phases) {
    say(`${phase.title}: warming up for ${warmUpSeconds} s`);
    await page.leaveFilter();
    await pressKeys(page, phase, warmUpSeconds);
    sections.push(await measure(page, phase, load));
  }
  await load.stop();
  await page.close();
  await system.stop();
  await report(test, { servers, startedAt, sections, isWhole: !flags.quick });
} finally {
  await servers.stop();
}

async function measure(
  page: FeedPage,
  phase: Phase,
  load: Pick<ReturnType<typeof startOpenLoop>, 'takeCounts'>,
): Promise<Section> {
  await load.takeCounts();
  const beganAt = performance.now();
  await page.takeRecorded();
  const results: Round[] = [];
  for (let round = 1; round <= phase.rounds; round += 1) {
    await pressKeys(page, phase, roundSeconds);
    await page.expectFeed(phase.feed);
    const recorded = await page.takeRecorded();
    const { succeeded } = await load.takeCounts();
    results.push({
      events: succeeded,
      ...recorded,
      heapMegabytes: await page.heapMegabytes(),
      elements: await page.countElements(),
    });
    // Garbage collection paused the page, so discard what the page has recorded in that time.
    await page.takeRecorded();
    say(`round ${round}/${phase.rounds}: ${describe(results.slice(-1)).slice(1).join(' · ')}`);
  }
  return printSection(phase, results, (performance.now() - beganAt) / 1_000);
}

/** Presses a key twice a second. */
async function pressKeys(page: FeedPage, { press }: Phase, seconds: number): Promise<void> {
  const endsAt = performance.now() + seconds * 1_000;
  for (let count = 0; performance.now() < endsAt; count += 1) {
    await press(page, count);
    await wait(inputEveryMs);
  }
}

function printSection({ title, text }: Phase, results: readonly Round[], seconds: number): Section {
  const all = sumUp(results);
  const half = Math.ceil(results.length / 2);
  const heaps = results.map(({ heapMegabytes }) => heapMegabytes);
  const heapEarlier = median(heaps.slice(0, half));
  const heapLater = median(heaps.slice(-half));
  return {
    title,
    paragraphs: [
      `${text} ${perSecond} signed platform messages arrive per second. The measurement begins after ${warmUpSeconds} s, when the feed has reached its maximum number of rows. Input latency is the time from the key press until the next frame is drawn. The heap is measured after a garbage collection; frames during the collection do not count.`,
      table(
        [
          'round',
          'events',
          'input p50',
          'input p98',
          'input max',
          'frame p50',
          'frame p99',
          'frames > 50 ms',
          'heap',
          'elements',
        ],
        [
          ...results.map((result, index) => [String(index + 1), ...describe([result])]),
          ['all', ...describe(results)],
        ],
      ),
      `At the end, the machine’s load average was ${averageLoad().toFixed(1)} on ${availableParallelism()} cores. When the load average is above the number of cores, work waits for a core, including the page’s work.`,
    ],
    promises: [
      {
        promise: `${title}: input latency is at most ${maxInputMs} ms (p98, like the INP metric)`,
        measured: `${quantile(all.inputs, 0.98).toFixed(0)} ms; at most ${Math.max(...all.inputs).toFixed(0)} ms; ${all.inputs.length} inputs`,
        isKept: quantile(all.inputs, 0.98) <= maxInputMs,
      },
      {
        promise: `${title}: page memory is flat (the median heap of the later rounds is at most ${Math.round((maxGrowth - 1) * 100)} % larger than in the earlier rounds)`,
        measured: `${heapEarlier.toFixed(1)} to ${heapLater.toFixed(1)} MiB in ${results.length * roundSeconds} s`,
        isKept: heapLater <= heapEarlier * maxGrowth,
      },
      {
        promise: `${title}: the load is ${perSecond} events per second`,
        measured: `${(all.events / seconds).toFixed(0)} per second`,
        isKept: all.events >= seconds * perSecond * minLoad,
      },
    ],
  };
}

/** Average number of running or waiting processes in the last minute. */
function averageLoad(): number {
  return loadavg()[0] ?? Number.NaN;
}

function sumUp(results: readonly Round[]): Pick<Round, 'events' | 'frames' | 'inputs'> {
  return {
    events: results.reduce((sum, { events }) => sum + events, 0),
    frames: results.flatMap(({ frames }) => frames),
    inputs: results.flatMap(({ inputs }) => inputs),
  };
}

/** Cells of a table row, without the row's name. */
function describe(results: readonly Round[]): string[] {
  const { events, frames, inputs } = sumUp(results);
  const ms = (value: number): string => `${value.toFixed(0)} ms`;
  return [
    formatCount(events),
    ms(median(inputs)),
    ms(quantile(inputs, 0.98)),
    ms(Math.max(...inputs)),
    ms(median(frames)),
    ms(quantile(frames, 0.99)),
    String(frames.filter((frame) => frame > 50).length),
    `${results.at(-1)?.heapMegabytes.toFixed(1)} MiB`,
    formatCount(results.at(-1)?.elements ?? 0),
  ];
}
