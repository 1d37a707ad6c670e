import { createLogger, Registry } from '@stream-events/service';
import { EventsBroker, newIds } from '../../../test/events-broker.js';
import { EventFeed } from './event-feed.service.js';
import { EventHistory } from './event-history.service.js';
import { findResumeSequence } from './resume-sequence.js';

const epoch = '0ddba115';
// Beyond what the feed begins with: the ring has 201 to 5,200.
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
  const stream = await broker.connectGateway();
  const logger = createLogger('test', 'silent');
  history = new EventHistory(stream, logger, new Registry());
  feed = new EventFeed(stream, logger, new Registry());
  feed.start();
  await feed.untilCurrent(AbortSignal.timeout(50_000));
});
afterAll(async () => {
  await feed.stop();
  await broker.close();
});

/** As a connection does: it tries again what a busy machine was too slow for. */
function find(after: string) {
  const attempt = () => findResumeSequence(after, { feed, history }, AbortSignal.timeout(50_000));
  return attempt().catch(attempt);
}

/** The position of the event at a sequence. */
function at(sequence: number): string {
  return `${epoch}-${sequence}-${ids[sequence - 1]?.slice(-8)}`;
}

describe(findResumeSequence.name, () => {
  it.each([
    ['the newest event', at(5_200), 5_201],
    ['one of the ring', at(4_000), 4_001],
    ['one before the ring', at(150), 151],
    ['the oldest one', at(21), 22],
    ['one that has left the stream, but what came next has not', at(20), 21],
    ['one that was removed, before the ring', at(40), 41],
    ['one that was removed, within the ring', at(300), 301],
  ])('goes on after %s', async (_, after, expected) => {
    expect(await find(after)).toBe(expected);
  });

  it.each([
    ['garbage', 'garbage', 'unknown_position'],
    ['nothing', '', 'unknown_position'],
    ['one beyond the end', `${epoch}-5201-00000000`, 'unknown_position'],
    ['one of the ring with the check of another event', `${epoch}-4000-00000000`, 'unknown_position'],
    ['one before the ring with the check of another event', `${epoch}-150-00000000`, 'unknown_position'],
    ['the beginning with a check that is not its own', `${epoch}-0-0badcafe`, 'unknown_position'],
    ['one of another epoch', `1badcafe-4000-${ids[3_999]?.slice(-8)}`, 'other_epoch'],
    ['one whose next has left the stream', at(19), 'expired'],
  ])('says of %s why that is not possible', async (_, after, expected) => {
    expect(await find(after)).toBe(expected);
  });

  it('begins at the first sequence after the place before the first event', async () => {
    expect(await find(`${epoch}-0-00000000`)).toBe(1);
  });

  it('waits for what another gateway has delivered already', async () => {
    const [id = ''] = newIds(1);
    await broker.publish([id]);

    expect(await find(`${epoch}-5201-${id.slice(-8)}`)).toBe(5_202);
  });
});
