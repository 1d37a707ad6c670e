import { parseArgs } from 'node:util';
import { setTimeout as wait } from 'node:timers/promises';
import { Occurrences, untilNothingWaits } from './chaos/occurrences.js';
import { summarize } from './chaos/report.js';
import { ConduitBed } from './conduit-chaos/conduit-bed.js';
import { checkConduit } from './conduit-chaos/losses.js';
import { quantile, median } from './measure/quantile.js';
import { say } from './measure/progress.js';
import { formatCount, formatSeconds, report, table, type SystemTest } from './measure/report.js';

// npm run chaos:conduit: kills connectors that share a conduit under load, and looks for lost and duplicate events. --quick
// kills three times.

const test: SystemTest = {
  title: 'Conduit chaos test',
  command: 'chaos:conduit',
  setting:
    'Two platform connectors share a conduit with eight shards on the simulated platform. One gateway, one events service, two streamer monitors, embedded PostgreSQL (durable), and nats-server run in their own processes. Everything shares one machine.',
};
const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const kills = flags.quick ? 3 : 20;
const perSecond = 200;
const channels = 16;
// Time that a supervisor needs to notice that a process has exited.
const supervisorMs = 500;

interface Kills {
  killedAt: number[];
  /** Per kill: time until the service noticed the loss of a shard. */
  noticedMs: number[];
  /** Per kill: time until all shards were enabled again. */
  enabledMs: number[];
}

async function killConnectors(conduit: ConduitBed): Promise<Kills> {
  const killedAt: number[] = [];
  const noticedMs: number[] = [];
  const enabledMs: number[] = [];
  const { connectors } = conduit.side;
  for (let count = 1; count <= kills; count += 1) {
    await wait(2_000 + Math.random() * 3_000);
    const victim = connectors[Math.floor(Math.random() * connectors.length)];
    killedAt.push(Date.now());
    const startedAt = performance.now();
    await victim?.kill('SIGKILL');
    const restarted = wait(supervisorMs).then(() => victim?.start());
    // Until the service notices the kill, all shards still look enabled.
    await conduit.untilLost();
    noticedMs.push(performance.now() - startedAt);
    await conduit.untilEnabled();
    enabledMs.push(performance.now() - startedAt);
    await restarted;
    say(`kill ${count}: all shards enabled after ${formatSeconds(enabledMs.at(-1) ?? 0)}`);
  }
  return { killedAt, noticedMs, enabledMs };
}

const startedAt = performance.now();
const conduit = await ConduitBed.start();
const { servers, store } = conduit.bed;
try {
  const load = new Occurrences({
    type: 'channel.update',
    makeFields: (sequence) => ({ title: `title ${sequence}` }),
    channels: await conduit.monitorChannels(channels),
    perSecond,
    clients: 16,
    happen: conduit.happen,
  });
  const { killedAt, noticedMs, enabledMs } = await killConnectors(conduit).finally(() => load.stop());
  const gaps = await conduit.readGaps();
  await untilNothingWaits(conduit.side.connectors);
  await store.waitUntilPublished();
  const { findings, losses } = checkConduit({
    listed: await store.readNewEvents(),
    deadLetters: await store.readDeadLetters(),
    gaps,
    killedAt,
    occurrences: load.all,
  });
  const lines = summarize(findings);
  for (const line of lines) say(`FOUND ${line}`);
  const lost = losses.reduce((sum, { events }) => sum + events, 0);
  const longest = losses.map(({ longestMs }) => longestMs);
  const happened = formatCount(load.all.length);
  await report(test, {
    servers,
    startedAt,
    sections: [
      {
        title: 'Method',
        paragraphs: [
          `${perSecond} events per second happen in ${channels} channels. A connector gets SIGKILL at random moments, and restarts after ${formatSeconds(supervisorMs)}. The platform sends a lost shard's messages over another shard, or drops them. Every event must be stored exactly once. An event may be missing only if a gap is reported for its shard at that time.`,
        ],
        promises: [
          {
            promise: 'No event is duplicated, and none is lost outside the reported gaps',
            measured: `${happened} events, ${kills} kills, ${findings.length} findings`,
            isKept: findings.length === 0 && load.all.length > 0,
          },
          {
            promise: 'A kill loses at most 1 s of a shard’s events, and the loss is reported',
            measured: `at most ${formatSeconds(Math.max(...longest))}; ${lost} events in total`,
            isKept: Math.max(...longest) <= 1_000,
          },
          {
            promise: 'All shards work again within 15 s',
            measured: `at most ${formatSeconds(quantile(enabledMs, 1))}`,
            isKept: quantile(enabledMs, 1) <= 15_000,
          },
        ],
      },
      {
        title: 'Results',
        paragraphs: [
          table(
            ['', 'median', 'maximum'],
            [
              ['loss noticed after a kill', ...both(noticedMs).map(formatSeconds)],
              ['all shards enabled after a kill', ...both(enabledMs).map(formatSeconds)],
              ['events lost by a kill', ...both(losses.map(({ events }) => events)).map(formatCount)],
              [
                'time between the first and the last lost event of a shard',
                ...both(longest).map(formatSeconds),
              ],
            ],
          ),
          ...lines.map((line) => `- ${line}`),
        ],
        promises: [],
      },
    ],
  });
} finally {
  await conduit.bed.stop();
}

function both(values: readonly number[]): [number, number] {
  return [median(values), quantile(values, 1)];
}
