import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { freePort } from '@stream-events/testing';
import { say, waitFor } from '../measure/progress.js';
import { median } from '../measure/quantile.js';
import { formatCount, table, type Section } from '../measure/report.js';
import type { Engine } from './engine.js';

/** The default of nats-server, the value of deploy/nats-server.conf, and the safest value. */
const intervals = ['2m', '1s', 'always'] as const;
type Interval = (typeof intervals)[number];

const natsImage = 'nats:2.12-alpine';
const inFlight = 64;
const payload = new Uint8Array(1_024);

/** Messages per second that one publisher gets confirmed with each `sync_interval`, in alternating runs. */
export async function measureSyncIntervals(
  engine: Engine,
  { rounds, runMs }: { rounds: number; runMs: number },
): Promise<Section> {
  const rates = new Map<Interval, number[]>(intervals.map((interval) => [interval, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [interval, measured] of rates) {
      measured.push(await measure(engine, interval, runMs));
      say(`nats-server, sync_interval ${interval}: ${formatCount(measured.at(-1) ?? 0)} messages/s`);
    }
  }
  return printSection(rates);
}

async function measure(engine: Engine, interval: Interval, runMs: number): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'stream-events-nats-'));
  const path = join(directory, 'nats.conf');
  const port = await freePort();
  await writeFile(path, `jetstream { store_dir: "/data", sync_interval: ${interval} }\n`, { mode: 0o644 });
  const container = await engine.run(
    ...['run', '--detach', '--rm', '--publish', `127.0.0.1:${port}:4222`],
    ...['--volume', `${path}:/etc/nats.conf:ro`, natsImage, 'nats-server', '--config', '/etc/nats.conf'],
  );
  try {
    const connection = await waitFor(() => connect({ port }).catch(() => undefined), {
      limitMs: 20_000,
      everyMs: 100,
    });
    if (!connection) throw new Error(`nats-server does not respond: ${await engine.readLogs(container)}`);
    const confirmed = await publish(connection, runMs);
    await connection.close();
    return (confirmed / runMs) * 1_000;
  } finally {
    await engine.run('kill', container);
    await rm(directory, { recursive: true });
  }
}

/** Publishes for a time, and counts the confirmations. */
async function publish(connection: NatsConnection, runMs: number): Promise<number> {
  await (await jetstreamManager(connection)).streams.add({ name: 'MEASURED', subjects: ['measured'] });
  const stream = jetstream(connection);
  const deadline = performance.now() + runMs;
  let confirmed = 0;
  const publisher = async (): Promise<void> => {
    for (; performance.now() < deadline; confirmed += 1) await stream.publish('measured', payload);
  };
  await Promise.all(Array.from({ length: inFlight }, publisher));
  return confirmed;
}

function printSection(rates: ReadonlyMap<Interval, readonly number[]>): Section {
  const lost: Record<Interval, string> = {
    '2m': 'up to two minutes of messages (the default of nats-server)',
    '1s': 'up to a second of messages (`deploy/nats-server.conf`)',
    always: 'nothing that was confirmed',
  };
  return {
    title: 'What sync_interval costs',
    paragraphs: [
      `nats-server confirms a message when the operating system has it, and flushes it to the disk after \`sync_interval\`. When nats-server is killed, nothing is lost with any value. The table has what a machine that loses power can lose, and how many messages of 1 KiB one publisher with ${inFlight} in flight gets confirmed per second (median, and lowest to highest, of alternating runs).`,
      table(
        ['`sync_interval`', 'power loss loses', 'messages per second'],
        [...rates].map(([interval, measured]) => [
          `\`${interval}\``,
          lost[interval],
          `${formatCount(median(measured))} (${formatCount(Math.min(...measured))} to ${formatCount(Math.max(...measured))})`,
        ]),
      ),
    ],
    promises: [],
  };
}
