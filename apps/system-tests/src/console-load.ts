import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { FeedPage } from './console-load/feed-page.js';
import { startOpenLoop } from './load/load.js';
import { say } from './measure/progress.js';
import { median, quantile } from './measure/quantile.js';
import { formatCount, report, table, type Section, type SystemTest } from './measure/report.js';
import { startServers } from './system/servers.js';
import { startSystem } from './system/system.js';

// npm run load:console: opens the Events page of the console in Chromium while many events arrive, and writes docs/console-load.md. With
// --quick, it runs a short version and only prints the result.

const test: SystemTest = {
  title: 'Console load test',
  command: 'load:console',
  page: 'console-load.md',
  setting:
    'One gateway and one events service, each in its own process, and headless Chromium, which draws without a graphics card. Servers, services, load, and browser share one machine.',
};
const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });

const perSecond = 200;
// By then, the feed has as many rows as it keeps, and V8 has compiled the hot code.
const warmUpSeconds = flags.quick ? 8 : 20;
const rounds = flags.quick ? 1 : 6;
const roundSeconds = 10;
const inputEveryMs = 500;
const maxInputMs = 100;
// The heap varies by what is in flight.
const maxGrowth = 1.1;

/** One row of the table. */
interface Round {
  events: number;
  frames: number[];
  inputs: number[];
  heapMegabytes: number;
  elements: number;
}

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
  const results: Round[] = [];
  say(`warming up for ${warmUpSeconds} s`);
  await pressKeys(page, warmUpSeconds);
  const heapBefore = await page.heapMegabytes();
  await load.takeCounts();
  await page.takeRecorded();
  for (let round = 1; round <= rounds; round += 1) {
    await pressKeys(page, roundSeconds);
    const recorded = await page.takeRecorded();
    const { succeeded } = await load.takeCounts();
    results.push({
      events: succeeded,
      ...recorded,
      heapMegabytes: await page.heapMegabytes(),
      elements: await page.countElements(),
    });
    // Collecting the garbage has stopped the page.
    await page.takeRecorded();
    say(`round ${round}/${rounds}: ${describe(results.slice(-1)).slice(1).join(' · ')}`);
  }
  await load.stop();
  await page.close();
  await system.stop();
  await report(test, {
    servers,
    startedAt,
    sections: [printSection(results, heapBefore)],
    isWhole: !flags.quick,
  });
} finally {
  await servers.stop();
}

/** Selects events with the keyboard for some seconds, twice a second. */
async function pressKeys(page: FeedPage, seconds: number): Promise<void> {
  const endsAt = performance.now() + seconds * 1_000;
  for (let count = 0; performance.now() < endsAt; count += 1) {
    await page.press(count % 2 === 0 ? 'j' : 'k');
    await wait(inputEveryMs);
  }
}

function printSection(results: readonly Round[], heapBefore: number): Section {
  const all = sumUp(results);
  const heapAfter = results.at(-1)?.heapMegabytes ?? Number.NaN;
  return {
    title: 'Feed',
    paragraphs: [
      `${perSecond} signed platform messages per second arrive while the Events page shows the live feed. Every half second, a key selects another event. The measurement begins after ${warmUpSeconds} s, when the feed has as many rows as it keeps. An input counts from the press of the key until the next frame is drawn. The heap is measured after a garbage collection, whose frames do not count.`,
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
    ],
    promises: [
      {
        promise: `The latency of inputs is at most ${maxInputMs} ms (p98, as in the metric INP)`,
        measured: `${quantile(all.inputs, 0.98).toFixed(0)} ms; at most ${Math.max(...all.inputs).toFixed(0)} ms; ${all.inputs.length} inputs`,
        isKept: quantile(all.inputs, 0.98) <= maxInputMs,
      },
      {
        promise: `The memory of the page is flat: the heap grows by at most ${Math.round((maxGrowth - 1) * 100)} % in ${rounds * roundSeconds} s`,
        measured: `${heapBefore.toFixed(1)} to ${heapAfter.toFixed(1)} MiB`,
        isKept: heapAfter <= heapBefore * maxGrowth,
      },
    ],
  };
}

function sumUp(results: readonly Round[]): Pick<Round, 'events' | 'frames' | 'inputs'> {
  return {
    events: results.reduce((sum, { events }) => sum + events, 0),
    frames: results.flatMap(({ frames }) => frames),
    inputs: results.flatMap(({ inputs }) => inputs),
  };
}

/** The cells of a row of the table, without its name. */
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
