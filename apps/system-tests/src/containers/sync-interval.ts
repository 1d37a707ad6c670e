import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { pinnedNatsVersion } from '@stream-events/embedded';
import { freePort } from '@stream-events/testing';
import { say, waitFor } from '../measure/progress.js';
import { median } from '../measure/quantile.js';
import { formatCount, table, type Section } from '../measure/report.js';
import type { Engine } from './engine.js';

/** nats-server's default, a compromise, and the value in deploy/nats-server.conf. */
const intervals = ['2m', '1s', 'always'] as const;
type Interval = (typeof intervals)[number];

/** Acknowledged messages per second, with one and with many messages in flight. */
interface Rates {
  one: number;
  many: number;
}

const natsImage = `nats:${pinnedNatsVersion}-alpine`;
const manyInFlight = 64;
const payload = new Uint8Array(1_024);

/** Measures one publisher's acknowledgments per second for each `sync_interval`. Alternates the intervals. */
export async function measureSyncIntervals(
  engine: Engine,
  { rounds, runMs }: { rounds: number; runMs: number },
): Promise<Section> {
  const rates = new Map<Interval, Rates[]>(intervals.map((interval) => [interval, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [interval, measured] of rates) {
      const found = await measure(engine, interval, runMs);
      measured.push(found);
      say(
        `nats-server, sync_interval ${interval}: ${formatCount(found.one)} and ${formatCount(found.many)} messages/s`,
      );
    }
  }
  return printSection(rates);
}

async function measure(engine: Engine, interval: Interval, runMs: number): Promise<Rates> {
  const directory = await mkdtemp(join(tmpdir(), 'stream-events-nats-'));
  const path = join(directory, 'nats.conf');
  const port = await freePort();
  await writeFile(path, `jetstream { store_dir: "/data", sync_interval: ${interval} }\n`, { mode: 0o644 });
  const container = await engine.run(
    ...['run', '--detach', '--rm', '--publish', `127.0.0.1:${port}:4222`],
    ...['--volume', `${path}:/etc/nats.conf:ro`, natsImage, 'nats-server', '--config', '/etc/nats.conf'],
  );
  try {
    // Retry until the server listens. After the limit, throw an error with the server's log.
    const connection = await waitFor(() => connect({ port }).catch(() => undefined), {
      limitMs: 20_000,
      everyMs: 100,
    });
    if (!connection) throw new Error(`nats-server does not respond: ${await engine.readLogs(container)}`);
    await (await jetstreamManager(connection)).streams.add({ name: 'MEASURED', subjects: ['measured'] });
    const one = await publish(connection, { inFlight: 1, runMs });
    const many = await publish(connection, { inFlight: manyInFlight, runMs });
    await connection.close();
    return { one, many };
  } finally {
    await engine.run('kill', container);
    await rm(directory, { recursive: true });
  }
}

/** Returns acknowledgments per second. */
async function publish(
  connection: NatsConnection,
  { inFlight, runMs }: { inFlight: number; runMs: number },
): Promise<number> {
  const stream = jetstream(connection);
  const deadline = performance.now() + runMs;
  let confirmed = 0;
  const publisher = async (): Promise<void> => {
    for (; performance.now() < deadline; confirmed += 1) await stream.publish('measured', payload);
  };
  await Promise.all(Array.from({ length: inFlight }, publisher));
  return (confirmed / runMs) * 1_000;
}

function printSection(rates: ReadonlyMap<Interval, readonly Rates[]>): Section {
  const lost: Record<Interval, string> = {
    '2m': 'up to two minutes of messages (nats-server’s default)',
    '1s': 'up to one second of messages',
    always: 'nothing that was acknowledged (`deploy/nats-server.conf`)',
  };
  return {
    title: 'What sync_interval costs',
    paragraphs: [
      `nats-server acknowledges a message when the operating system has the data, and flushes the data to the disk after \`sync_interval\`. A killed nats-server loses nothing with any value. The table shows which messages are lost when the machine loses power, and how many acknowledgments per second a publisher of 1 KiB messages gets, with one message and with ${manyInFlight} messages in flight (median and range of alternating runs).`,
      table(
        ['`sync_interval`', 'power loss loses', 'one in flight', `${manyInFlight} in flight`],
        [...rates].map(([interval, measured]) => [
          `\`${interval}\``,
          lost[interval],
          printRates(measured.map(({ one }) => one)),
          printRates(measured.map(({ many }) => many)),
        ]),
      ),
    ],
    promises: [],
  };
}

function printRates(rates: readonly number[]): string {
  return `${formatCount(median(rates))} (${formatCount(Math.min(...rates))} to ${formatCount(Math.max(...rates))})`;
}
