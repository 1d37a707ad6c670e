import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { EventsBroker, newIds } from '../../../test/events-broker.js';
import { EventFeed } from './event-feed.service.js';
import { EventHistory } from './event-history.service.js';
import { findResumeSequence } from './resume-sequence.js';

const epoch = '0ddba115';
// More events than the feed reads at its start: the ring buffer contains events 201 to 5,200.
const ids = newIds(5_200);

let broker: EventsBroker;
let feed: EventFeed;
let history: EventHistory;

beforeAll(async () => {
  broker = await EventsBroker.start();
  await broker.createStream(epoch);
  await broker.publish(ids);
  await broker.remove(40);
  await broker.remove(300);
  await broker.expire(21);
  // The stream begins at 24 now.
  for (const sequence of [21, 22, 23]) await broker.erase(sequence);
  const stream = await broker.connectGateway();
  const logger = createLogger('test', 'silent');
  history = new EventHistory(stream, logger, new Registry(), broker.erased);
  feed = new EventFeed(stream, logger, new Registry(), broker.erased);
  feed.start();
  await feed.untilCurrent(AbortSignal.timeout(100_000));
});
afterAll(async () => {
  await feed.stop();
  await broker.close();
});

/** Retries, as a connection does, when a busy machine was too slow. */
function find(after: string) {
  const timeoutMs = 60_000;
  const signal = AbortSignal.timeout(timeoutMs);
  return eventually(() => findResumeSequence(after, { feed, history }, signal), { timeoutMs });
}

/** Returns the position of the event at a sequence. */
function at(sequence: number): string {
  return `${epoch}-${sequence}-${ids[sequence - 1]?.slice(-8)}`;
}

describe(findResumeSequence.name, () => {
  it.each([
    ['the newest event', at(5_200), 5_201],
    ['an event in the ring buffer', at(4_000), 4_001],
    ['an event before the ring buffer', at(150), 151],
    ['an event in the ring buffer that another gateway had not read', `${epoch}-4000-00000000`, 4_001],
    ['an event before the ring buffer that another gateway had not read', `${epoch}-150-00000000`, 151],
    ['an erased event at the start of the stream', at(21), 22],
    ['the last erased event at the start of the stream', at(23), 24],
    ['the oldest event', at(24), 25],
    ['an event that has left the stream when the events after it were erased', at(20), 21],
    ['a removed event before the ring buffer', at(40), 41],
    ['a removed event within the ring buffer', at(300), 301],
  ])('resumes after %s', async (_, after, expected) => {
    expect(await find(after)).toBe(expected);
  });

  it.each([
    ['garbage', 'garbage', 'unknown_position'],
    ['empty text', '', 'unknown_position'],
    ['a sequence beyond the end', `${epoch}-5201-00000000`, 'unknown_position'],
    ['an event in the ring buffer with a wrong check', `${epoch}-4000-00000001`, 'unknown_position'],
    ['an event before the ring buffer with a wrong check', `${epoch}-150-00000001`, 'unknown_position'],
    ['the start of the stream with a wrong check', `${epoch}-0-0badcafe`, 'unknown_position'],
    ['an event of another epoch', `1badcafe-4000-${ids[3_999]?.slice(-8)}`, 'other_epoch'],
    ['an event whose next event has left the stream', at(19), 'expired'],
  ])('returns the reason why it cannot resume after %s', async (_, after, expected) => {
    expect(await find(after)).toBe(expected);
  });

  it('begins at the first sequence for the position before the first event', async () => {
    expect(await find(`${epoch}-0-00000000`)).toBe(1);
  });

  it('waits for events that another gateway has already delivered', async () => {
    const [id = ''] = newIds(1);
    await broker.publish([id]);

    expect(await find(`${epoch}-5201-${id.slice(-8)}`)).toBe(5_202);
  });
});
