import { ServiceError } from '@stream-events/contracts';
import { userOf, withNamedToken } from '../../test/limited-callers.js';
import { ConcurrencyLimit, type Queue } from './concurrency-limit.js';

const [ada, leaked, bob] = [userOf('ada'), withNamedToken('ada'), userOf('bob')];
const never = (): AbortSignal => new AbortController().signal;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const refuse = (payer: string, max: number): ServiceError =>
  new ServiceError('too_many_requests', `${payer}: ${max}`);

/** Waits for turns. Returns the functions that end the running ones, and the errors of the others. */
function waitFor(limit: ConcurrencyLimit, count: number, caller = ada, queue?: Queue) {
  const ends: (() => void)[] = [];
  const refused: unknown[] = [];
  for (let index = 0; index < count; index += 1)
    limit.waitFor(caller, never(), queue).then(
      (end) => ends.push(end),
      (error: unknown) => refused.push(error),
    );
  return { ends, refused };
}

describe(ConcurrencyLimit.name, () => {
  describe('take', () => {
    it('refuses a user or a named token that has its maximum', () => {
      const limit = new ConcurrencyLimit(5);
      for (let count = 0; count < 2; count += 1) limit.take(leaked, refuse);
      expect(() => limit.take(leaked, refuse)).toThrow('token: 2');
      for (let count = 0; count < 3; count += 1) limit.take(ada, refuse);
      expect(() => limit.take(ada, refuse)).toThrow('user: 5');
      expect(limit.runningOf('ada')).toBe(5);
      limit.take(bob, refuse);
    });

    it('takes no turn of a named token whose user has the maximum', () => {
      const limit = new ConcurrencyLimit(2);
      const [end] = [limit.take(ada, refuse), limit.take(ada, refuse)];
      expect(() => limit.take(leaked, refuse)).toThrow('user: 2');

      end?.();

      limit.take(leaked, refuse);
    });

    it('gives back a turn only once', () => {
      const limit = new ConcurrencyLimit(2);
      const [end] = [limit.take(ada, refuse), limit.take(ada, refuse)];

      end?.();
      end?.();

      limit.take(ada, refuse);
      expect(() => limit.take(ada, refuse)).toThrow('user: 2');
      expect(limit.counts).toEqual({ running: 2, waiting: 0 });
    });
  });

  describe('waitFor', () => {
    it('starts further turns of a user in order, each when another one ends', async () => {
      const limit = new ConcurrencyLimit(4);
      const { ends } = waitFor(limit, 20);
      await settle();
      expect(limit.counts).toEqual({ running: 4, waiting: 16 });
      for (let count = 0; count < 20; count += 1) {
        ends[count]?.();
        ends[count]?.();
        await settle();
        expect(ends).toHaveLength(Math.min(20, count + 5));
      }
      expect(limit.counts).toEqual({ running: 0, waiting: 0 });
    });

    it('does not make users wait for each other', async () => {
      const limit = new ConcurrencyLimit(2);
      waitFor(limit, 20);
      const { ends } = waitFor(limit, 1, bob);
      await settle();

      expect(ends).toHaveLength(1);
    });

    it('leaves half of the turns to the user of a named token, also when many of its callers wait', async () => {
      const limit = new ConcurrencyLimit(4);
      const withToken = waitFor(limit, 20, leaked);
      await settle();
      const own = waitFor(limit, 3);
      await settle();
      expect([withToken.ends.length, own.ends.length]).toEqual([2, 2]);

      withToken.ends[0]?.();
      await settle();
      // The user's third caller has waited longer than the token's next one.
      expect([withToken.ends.length, own.ends.length]).toEqual([2, 3]);
      own.ends[0]?.();
      await settle();
      expect(withToken.ends).toHaveLength(3);
    });

    it('refuses callers when the queue of the user or the token is full', async () => {
      const limit = new ConcurrencyLimit(4);
      const queue = { max: 10, refuse };
      expect(waitFor(limit, 8, leaked, queue).refused).toEqual([]);
      const own = waitFor(limit, 13, ada, queue);
      await settle();
      expect(own.refused).toEqual([refuse('user', 10)]);
      const withToken = waitFor(limit, 1, leaked, queue);
      await settle();

      expect(withToken.refused).toEqual([refuse('token', 5)]);
    });

    it('forgets a caller that leaves, and gives the turn to the next one', async () => {
      const limit = new ConcurrencyLimit(1);
      const end = limit.take(ada, refuse);
      const leaving = new AbortController();
      const left = limit.waitFor(ada, leaving.signal);
      const next = limit.waitFor(ada, never());
      leaving.abort(new Error('left'));
      await expect(left).rejects.toThrow('left');

      end();

      (await next)();
      expect(limit.runningOf('ada')).toBe(0);
      expect(limit.counts).toEqual({ running: 0, waiting: 0 });
    });

    it('gives back the turn of a token whose caller leaves while it waits for the user', async () => {
      const limit = new ConcurrencyLimit(2);
      const ends = [limit.take(ada, refuse), limit.take(ada, refuse)];
      const leaving = new AbortController();
      const left = limit.waitFor(leaked, leaving.signal);
      await settle();
      leaving.abort(new Error('left'));
      await expect(left).rejects.toThrow('left');

      for (const end of ends) end();

      limit.take(leaked, refuse);
    });
  });

  it('knows whether others wait for the turns of a token or of its user', async () => {
    const limit = new ConcurrencyLimit(2);
    limit.take(leaked, refuse);
    expect(limit.isAwaited(leaked)).toBe(false);
    waitFor(limit, 1, leaked);
    await settle();

    expect([leaked, ada, bob].map((caller) => limit.isAwaited(caller))).toEqual([true, false, false]);
  });
});
