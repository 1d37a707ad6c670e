import { setTimeout as wait } from 'node:timers/promises';
import { eventsStreamName } from '@stream-events/contracts';
import { EventSender } from '../chaos/event-sender.js';
import { say, waitFor } from '../measure/progress.js';
import type { Section } from '../measure/report.js';
import { totalOf, type Judgement } from '../fleet/fleet-messages.js';
import type { LiveBed } from './live-bed.js';
import { printPositions } from './positions-report.js';
import { Probe } from './probe.js';
import { makeSmallEvent } from '../fleet/test-events.js';

/** A position, and what a client that resumes from it received. */
export interface PositionResult {
  name: string;
  expected: string[];
  story: string[];
}

/** What happened after the stream was deleted under connected clients. */
export interface LostStreamResult {
  clients: number;
  gaps: Record<string, number>;
  /** Time from the deletion to a new epoch. Undefined if the limit passed first. */
  newEpochMs: number | undefined;
  isSettled: boolean;
  judgement: Judgement;
}

const eventsBefore = 60;
const kept = 5;
const newEpochLimitMs = 40_000;
const lostClients = 100;
const lostPerSecond = 40;
const group = 'lost';

/** Connects clients with old and invalid positions, then deletes the stream under connected clients. */
export async function runPositions(bed: LiveBed): Promise<Section> {
  const positions = await tryPositions(bed);
  return printPositions(positions, await loseStream(bed));
}

async function tryPositions(bed: LiveBed): Promise<PositionResult[]> {
  const { tap, system } = bed;
  await send(bed, eventsBefore);
  const cases = await collectCases(bed);
  const manager = await tap.manage();
  await manager.streams.purge(eventsStreamName, { keep: kept });
  // Restart the gateways to clear their memory. They could still have events that the stream has lost.
  await Promise.all(system.gateways.map((gateway) => gateway.restart()));
  const probes = cases.map(({ after }, index) => {
    const port = bed.ports[index % bed.ports.length] ?? 0;
    return new Probe(port, { token: bed.tokenOf(index), positions: true, after });
  });
  await Promise.all(probes.map((probe) => probe.waitFor(2)));
  await send(bed, 1);
  await Promise.all(probes.map((probe) => probe.waitFor(3)));
  // Any further message would have arrived by now.
  await wait(500);
  for (const probe of probes) probe.close();
  return cases.map(({ name, expected }, index) => ({
    name,
    expected: [...expected, 'ready', 'event'],
    story: probes[index]?.story ?? [],
  }));
}

/** Collects the positions to test. Call it before the stream drops its oldest events. */
async function collectCases({
  tap,
}: LiveBed): Promise<{ name: string; after: string; expected: string[] }[]> {
  const last = (await tap.readHistory()).at(-1);
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

async function loseStream(bed: LiveBed): Promise<LostStreamResult> {
  const { crowd, tap } = bed;
  await crowd.open(group, bed.planClients(lostClients));
  await crowd.waitUntilReady(group);
  const newEpochMs = await bed.underLoad(
    { perSecond: lostPerSecond, make: () => makeSmallEvent() },
    async () => {
      await wait(3_000);
      await tap.readHistory();
      const afterMs = await deleteStream(bed);
      await wait(3_000);
      return afterMs;
    },
  );
  await bed.waitUntilPublished();
  const { isSettled, counts } = await crowd.settle(group);
  const judgement = await crowd.judge(group, await tap.readHistory());
  await crowd.drop(group);
  return { clients: lostClients, gaps: totalOf(counts).gaps, newEpochMs, isSettled, judgement };
}

/** Deletes the stream. Returns the milliseconds until a new epoch exists, or undefined after the limit. */
async function deleteStream({ tap }: LiveBed): Promise<number | undefined> {
  const { epoch } = await tap.readState();
  const deletedAt = performance.now();
  await (await tap.manage()).streams.delete(eventsStreamName);
  const newEpochMs = await waitFor(
    async () => {
      // There is no stream until the events service recreates it.
      const state = await tap.readState().catch(() => undefined);
      return state && state.epoch !== epoch ? performance.now() - deletedAt : undefined;
    },
    { limitMs: newEpochLimitMs, everyMs: 250 },
  );
  say(`positions: the deleted stream was recreated after ${Math.round(newEpochMs ?? Number.NaN)} ms`);
  return newEpochMs;
}

/** Sends events one after the other through a gateway. */
async function send({ system }: LiveBed, count: number): Promise<void> {
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
