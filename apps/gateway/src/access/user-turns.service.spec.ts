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

  it('leaves half of the turns to the user of a named token, also when many of its requests wait', async () => {
    const turns = new UserTurns({ RATE_LIMIT_REQUESTS: 10 });
    const leaked = begin(turns, 50, withNamedToken('ada'));
    await settle();
    expect([leaked.ends.length, leaked.refused.length]).toEqual([2, 43]);
    const own = begin(turns, 3);
    await settle();
    expect(own.ends).toHaveLength(2);

    leaked.ends[0]?.();
    await settle();
    // The user's request has waited longer than the next request with the token.
    expect([leaked.ends.length, own.ends.length]).toEqual([2, 3]);
    own.ends[0]?.();
    await settle();
    expect(leaked.ends).toHaveLength(3);
  });

  it('ends a turn only once', async () => {
    const turns = new UserTurns({ RATE_LIMIT_REQUESTS: 100 });
    const { ends } = begin(turns, 6);
    await settle();

    ends[0]?.();
    ends[0]?.();
    await settle();

    expect(ends).toHaveLength(5);
  });

  it('lets users not wait for each other', async () => {
    const turns = new UserTurns({ RATE_LIMIT_REQUESTS: 100 });
    begin(turns, 20);
    const { ends } = begin(turns, 1, userOf('bob'));
    await settle();

    expect(ends).toHaveLength(1);
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

    it('keeps all turns of the user', async () => {
      const turns = new UserTurns({ RATE_LIMIT_REQUESTS: 100 }, waitLimitMs);
      const { ends } = begin(turns, 4);
      await expect(turns.begin(userOf('ada'))).rejects.toThrow();
      for (const end of ends) end();

      const later = begin(turns, 5);
      await settle();

      expect(later.ends).toHaveLength(4);
    });
  });

  it('limits nothing without a limit of requests per second', async () => {
    const { ends } = begin(new UserTurns({ RATE_LIMIT_REQUESTS: 0 }), 1_000);
    await settle();

    expect(ends).toHaveLength(1_000);
  });
});
