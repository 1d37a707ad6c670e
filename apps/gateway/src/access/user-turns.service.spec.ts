import { userOf, withNamedToken } from '../../test/limited-callers.js';
import { UserTurns } from './user-turns.service.js';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe(UserTurns.name, () => {
  /** Starts requests of a user. Returns the functions that end the running ones. */
  function begin(turns: UserTurns, count: number, caller = userOf('ada')) {
    const ends: (() => void)[] = [];
    const refused: unknown[] = [];
    for (let index = 0; index < count; index += 1)
      turns.begin(caller).then(
        (end) => ends.push(end),
        (error: unknown) => refused.push(error),
      );
    return { ends, refused };
  }

  it('runs four requests of a user at a time, and the others in turn', async () => {
    const turns = new UserTurns({ RATE_LIMIT_REQUESTS: 100 });
    const { ends } = begin(turns, 20);
    await settle();
    expect(ends).toHaveLength(4);
    for (let count = 0; count < 20; count += 1) {
      ends[count]?.();
      await settle();
      expect(ends).toHaveLength(Math.min(20, count + 5));
    }
    expect(begin(turns, 4).ends).toEqual([]);
  });

  it('runs two requests with a named token at a time, of which half as many wait', async () => {
    const turns = new UserTurns({ RATE_LIMIT_REQUESTS: 10 });
    const { ends, refused } = begin(turns, 50, withNamedToken('ada'));
    await settle();

    expect([ends.length, refused.length]).toEqual([2, 43]);
  });

  it('refuses a request when as many wait as the user may send in a second', async () => {
    const turns = new UserTurns({ RATE_LIMIT_REQUESTS: 10 });
    const { refused } = begin(turns, 15);
    await settle();

    expect(refused).toEqual([expect.objectContaining({ code: 'too_many_requests', retryAfterSeconds: 1 })]);
  });

  describe('when a request waits too long', () => {
    const waitLimitMs = 20;

    it('refuses the request, and gives the next turn to a later request', async () => {
      const turns = new UserTurns({ RATE_LIMIT_REQUESTS: 100 }, waitLimitMs);
      const { ends } = begin(turns, 4);
      await expect(turns.begin(userOf('ada'))).rejects.toMatchObject({
        code: 'too_many_requests',
        retryAfterSeconds: 1,
        detail: expect.stringContaining('waited 0.02 s') as string,
      });
      const sixth = turns.begin(userOf('ada'));

      ends[0]?.();

      await expect(sixth).resolves.toEqual(expect.any(Function));
    });
  });

  it('limits nothing without a limit of requests per second', async () => {
    const { ends } = begin(new UserTurns({ RATE_LIMIT_REQUESTS: 0 }), 1_000);
    await settle();

    expect(ends).toHaveLength(1_000);
  });
});
