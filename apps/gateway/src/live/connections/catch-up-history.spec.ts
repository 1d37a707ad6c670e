import { userOf } from '../../../test/limited-callers.js';
import { ConcurrencyLimit } from '../../access/concurrency-limit.js';
import { CatchUpHistory } from './catch-up-history.js';

const never = new AbortController().signal;
const page = { kind: 'events' as const, events: [], next: 2 };
const place = { epoch: '1a2b3c4d', from: 1, until: 1 };
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Creates the histories of two connections of a user. */
function setup({ perUser = 2, turnMs = 60_000 } = {}) {
  const turns = new ConcurrencyLimit(perUser);
  const create = (): CatchUpHistory =>
    new CatchUpHistory({ read: () => Promise.resolve(page) }, userOf('ada'), turns, {
      turnMs,
      messagesPerSecond: 10_000,
    });
  return { turns, one: create(), other: create() };
}

describe(CatchUpHistory.name, () => {
  it('reads in one turn until it rests', async () => {
    const { turns, one } = setup();
    expect(await one.read(place, never)).toBe(page);
    await Promise.all([one.read(place, never), one.read(place, never)]);
    expect(turns.counts).toEqual({ running: 1, waiting: 0 });

    one.rest();

    await settle();
    expect(turns.counts).toEqual({ running: 0, waiting: 0 });
  });

  it('gives its turn to others of the user that wait, and takes another one', async () => {
    const { one, other } = setup({ perUser: 1, turnMs: 0 });
    await one.read(place, never);
    const waiting = other.read(place, never);
    await settle();
    const again = one.read(place, never);
    await waiting;
    other.rest();

    expect(await again).toBe(page);
  });

  it('gives up its turn when its client takes longer than a turn to receive a page', async () => {
    const { one, other } = setup({ perUser: 1, turnMs: 50 });
    await one.read(place, never);

    expect(await other.read(place, never)).toBe(page);
    other.rest();
    expect(await one.read(place, never)).toBe(page);
  });

  it('leaves nothing behind when the client leaves while it waits', async () => {
    const { turns, one } = setup({ perUser: 1 });
    const end = await turns.waitFor(userOf('ada'), never);
    const leaving = new AbortController();
    const reading = one.read(place, leaving.signal);
    leaving.abort();
    one.rest();
    await expect(reading).rejects.toThrow();

    end();

    expect(turns.counts).toEqual({ running: 0, waiting: 0 });
  });
});
