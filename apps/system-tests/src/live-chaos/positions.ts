import { setTimeout as wait } from 'node:timers/promises';
import { eventsStreamName, isJsonObject } from '@stream-events/contracts';
import { EventSender } from '../chaos/event-sender.js';
import { say, waitFor } from '../measure/progress.js';
import { formatCount, formatSeconds, table, type Section } from '../measure/report.js';
import { totalOf, type Judgement } from '../fleet/fleet-messages.js';
import { makeSmallEvent } from '../fleet/test-events.js';
import { WebSocketClient } from '../fleet/web-socket.js';
import { printCounts, printFindings, type LiveBed } from './live-bed.js';

/** A position, and what a client that resumes from it received. */
interface PositionResult {
  name: string;
  expected: string[];
  story: string[];
}

/** What happened after the stream was deleted under connected clients. */
interface LostStreamResult {
  gaps: Record<string, number>;
  /** Time from the deletion to a new epoch. Undefined if the limit passed first. */
  newEpochMs: number | undefined;
  isSettled: boolean;
  judgement: Judgement;
}

const eventsBefore = 60;
const kept = 5;
const newEpochLimitMs = 40_000;
const messageLimitMs = 15_000;
const lostClients = 100;
const lostPerSecond = 40;
const group = 'lost';

/** Connects clients with old and invalid positions, then deletes the stream under connected clients. */
export async function runPositions(live: LiveBed): Promise<Section> {
  const positions = await tryPositions(live);
  const { gaps, newEpochMs, isSettled, judgement } = await loseStream(live);
  const isAsExpected = ({ expected, story }: PositionResult): boolean => story.join() === expected.join();
  const right = positions.filter(isAsExpected);
  const gapsTold = gaps.other_epoch ?? 0;
  return {
    title: 'Invalid positions',
    paragraphs: [
      'Clients connect with these positions. When all clients are live, the test sends one event. Each client receives, in order:',
      table(
        ['position', 'received', ''],
        positions.map((position) => [
          position.name,
          position.story.join(', ') || 'nothing',
          isAsExpected(position) ? '' : `**expected: ${position.expected.join(', ')}**`,
        ]),
      ),
      `Then the stream is deleted under ${formatCount(lostClients)} connected clients while events flow. Time until a stream with a new epoch existed: ${newEpochMs === undefined ? '**never**' : formatSeconds(newEpochMs)}. Gap messages to clients: ${printCounts(gaps)}.`,
      ...printFindings(judgement),
    ],
    promises: [
      {
        promise:
          'A client whose position is expired, from another epoch, forged, or garbage receives an explicit gap, then live events',
        measured: `${right.length} of ${positions.length} as expected`,
        isKept: right.length === positions.length,
      },
      {
        promise: 'When the stream is lost, every connected client gets a gap message, then every new event',
        measured: `${gapsTold} of ${lostClients} clients, ${judgement.found} with findings`,
        isKept: isSettled && newEpochMs !== undefined && gapsTold >= lostClients && judgement.found === 0,
      },
    ],
  };
}

async function tryPositions(live: LiveBed): Promise<PositionResult[]> {
  const { stream, system } = live.bed;
  await send(live, eventsBefore);
  const cases = await collectCases(live);
  await (await stream.manage()).streams.purge(eventsStreamName, { keep: kept });
  // Restart the gateways to clear their memory. They could still have events that the stream has lost.
  await Promise.all(system.gateways.map((gateway) => gateway.restart()));
  const probes = cases.map(({ after }, index) => {
    const port = live.ports[index % live.ports.length] ?? 0;
    return new Probe(port, { token: live.tokenOf(index), positions: true, after });
  });
  await Promise.all(probes.map((probe) => probe.waitFor(2)));
  await send(live, 1);
  await Promise.all(probes.map((probe) => probe.waitFor(3)));
  // Any further message would have arrived by now.
  await wait(500);
  const stories = probes.map(({ story }) => [...story]);
  for (const probe of probes) probe.close();
  return cases.map(({ name, expected }, index) => ({
    name,
    expected: [...expected, 'ready', 'event'],
    story: stories[index] ?? [],
  }));
}

/** Collects the positions to test. Call it before the stream drops its oldest events. */
async function collectCases({
  history,
}: LiveBed): Promise<{ name: string; after: string; expected: string[] }[]> {
  const last = (await history.read()).at(-1);
  const [oldest, newest] = [last?.events[0], last?.events.at(-1)];
  if (!last || !oldest || !newest) throw new Error('the stream is empty');
  const { epoch } = last;
  const print = (sequence: number, check: number, of = epoch): string =>
    `${of}-${sequence}-${check.toString(16).padStart(8, '0')}`;
  const otherEpoch = epoch.replace(/./g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16));
  const unknown = (name: string, after: string) => ({ name, after, expected: ['gap unknown_position'] });
  return [
    {
      name: 'the newest event (nothing was missed)',
      after: print(newest.sequence, newest.check),
      expected: [],
    },
    { name: 'older than retention', after: print(oldest.sequence, oldest.check), expected: ['gap expired'] },
    {
      name: 'from another epoch',
      after: print(newest.sequence, newest.check, otherEpoch),
      expected: ['gap other_epoch'],
    },
    unknown('forged: from another event', print(newest.sequence, (newest.check ^ 1) >>> 0)),
    unknown('forged: beyond the end', print(newest.sequence + 1_000_000, newest.check)),
    unknown('forged: before the start, with a check', print(0, newest.check)),
    unknown('garbage', 'garbage'),
    unknown('garbage: wrong format', `${epoch}-1`),
    unknown('garbage: a number out of range', `${epoch}-99999999999999999999-00000000`),
    unknown('garbage: long', 'x'.repeat(10_000)),
    unknown('garbage: not ASCII', `${epoch}-١-🎉`),
  ];
}

/** A connection that records what it receives, in words: `gap expired`, `ready`, `event`. */
class Probe {
  readonly story: string[] = [];
  private isOver = false;
  private readonly socket: WebSocketClient;

  constructor(port: number, firstMessage: Record<string, unknown>) {
    this.socket = new WebSocketClient(
      { port, path: '/ws/platform-events/', firstMessage: JSON.stringify(firstMessage) },
      {
        onText: (bytes, start, end) => {
          const message: unknown = JSON.parse(bytes.toString('utf8', start, end));
          const { event, reason, id } = isJsonObject(message) ? message : {};
          if (id !== undefined) this.story.push('event');
          else this.story.push(event === 'gap' ? `gap ${String(reason)}` : String(event));
        },
        onEnd: (ending) => {
          this.isOver = true;
          this.story.push(JSON.stringify(ending));
        },
      },
    );
  }

  /** Resolves after `count` messages, when the connection ends, or after 15 s. */
  async waitFor(count: number): Promise<void> {
    await waitFor(() => (this.story.length >= count || this.isOver ? true : undefined), {
      limitMs: messageLimitMs,
      everyMs: 20,
    });
  }

  close(): void {
    this.socket.close();
  }
}

async function loseStream(live: LiveBed): Promise<LostStreamResult> {
  const { crowd, history, bed } = live;
  await crowd.open(group, live.planClients(lostClients));
  await crowd.waitUntilReady(group);
  const newEpochMs = await live.underLoad(
    { perSecond: lostPerSecond, make: () => makeSmallEvent() },
    async () => {
      await wait(3_000);
      await history.read();
      const afterMs = await deleteStream(live);
      await wait(3_000);
      return afterMs;
    },
  );
  await bed.store.waitUntilPublished();
  const { isSettled, counts } = await crowd.settle(group);
  return { gaps: totalOf(counts).gaps, newEpochMs, isSettled, judgement: await live.judge(crowd, group) };
}

/** Deletes the stream. Returns the milliseconds until a new epoch exists, or undefined after the limit. */
async function deleteStream({ bed: { stream } }: LiveBed): Promise<number | undefined> {
  const { epoch } = await stream.readState();
  const deletedAt = performance.now();
  await stream.deleteStream();
  const newEpochMs = await waitFor(
    async () => {
      // There is no stream until the events service recreates it.
      const state = await stream.readState().catch(() => undefined);
      return state && state.epoch !== epoch ? performance.now() - deletedAt : undefined;
    },
    { limitMs: newEpochLimitMs, everyMs: 250 },
  );
  say(`positions: the deleted stream was recreated after ${Math.round(newEpochMs ?? Number.NaN)} ms`);
  return newEpochMs;
}

/** Sends events one after the other through a gateway. */
async function send({ bed: { system } }: LiveBed, count: number): Promise<void> {
  const sender = new EventSender(system, { connectionsEach: 1, keepAlive: true });
  try {
    for (let sent = 0; sent < count; sent += 1) {
      const answer = await sender.send(makeSmallEvent('keyed post'), system.gateways[0]?.url ?? '');
      if (answer.kind !== 'accepted') throw new Error(`cannot send an event: ${JSON.stringify(answer)}`);
    }
  } finally {
    sender.close();
  }
}
