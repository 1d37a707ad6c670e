import { createHash } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGateway } from '../../test/connect-gateway.js';
import { LoginThrottle, type LoginAttempt } from './login-throttle.service.js';

const config = { SECRET_KEY: ['a secret key of the tests, long enough'] };

describe(LoginThrottle.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let sut: LoginThrottle;
  let names = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectGateway(database, 10);
    sut = new LoginThrottle(dataSource, config);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const newName = (): string => `user-${(names += 1)}`;
  const newAddress = (): string => `198.51.${100 + Math.floor((names += 1) / 250)}.${names % 250}`;

  const begin = async (address: string, username: string): Promise<LoginAttempt> => {
    const begun = await sut.identify(address, username);
    await sut.begin(begun);
    return begun;
  };

  /** Attempts to log in. Returns the required wait in seconds, or 0 if the attempt is allowed. */
  const attempt = async (address: string, username: string): Promise<number> => {
    try {
      await begin(address, username);
      return 0;
    } catch (error) {
      expect(error).toMatchObject({ code: 'too_many_requests' });
      return (error as { retryAfterSeconds: number }).retryAfterSeconds;
    }
  };

  /** Runs a test in one transaction. `now()` is constant there, so no wait ends, however slow the machine is. */
  const withStoppedClock = (test: () => Promise<void>) => (): Promise<void> =>
    dataSource.transaction(async (manager) => {
      const original = sut;
      // Safe cast: the service uses only `query` and `transaction`, which nests here.
      sut = new LoginThrottle(manager as unknown as DataSource, config);
      try {
        await test();
      } finally {
        sut = original;
      }
    });

  const logIn = async (address: string, username: string): Promise<void> => {
    await sut.succeed(await begin(address, username));
  };

  it(
    'slows down an address that tries many names',
    withStoppedClock(async () => {
      const address = newAddress();
      for (let count = 0; count < 20; count += 1) expect(await attempt(address, newName())).toBe(0);

      const wait = await attempt(address, newName());
      expect(wait).toBeGreaterThan(30);
      expect(wait).toBeLessThanOrEqual(60);
      expect(await attempt(newAddress(), newName())).toBe(0);
    }),
  );

  it(
    'counts the IPv6 addresses of one client together',
    withStoppedClock(async () => {
      for (let count = 1; count <= 20; count += 1)
        expect(await attempt(`2001:db8:1:2::${count}`, newName())).toBe(0);

      expect(await attempt('2001:db8:1:2:ffff::1', newName())).toBeGreaterThan(0);
      expect(await attempt('2001:db8:1:3::1', newName())).toBe(0);
    }),
  );

  it.each([
    ['/56', 80, (network: number) => `2001:db8:7:12${network.toString(16).padStart(2, '0')}::7`],
    ['/48', 320, (network: number) => `2001:db8:9:${network.toString(16).padStart(2, '0')}00::7`],
  ])(
    'slows down an IPv6 %s network that tries many names from many /64 networks, but no network beside it',
    (_size, failures, addressIn) =>
      withStoppedClock(async () => {
        for (let count = 0; count < failures; count += 1)
          expect(await attempt(addressIn(count % 100), newName())).toBe(0);

        expect(await attempt(addressIn(200), newName())).toBeGreaterThan(0);
        expect(await attempt('2001:db8:8:3400::7', newName())).toBe(0);
      })(),
  );

  it(
    'does not slow down the /56 network of an IPv6 /64 network that has used up its budget',
    withStoppedClock(async () => {
      for (let count = 0; count < 30; count += 1) await attempt('2001:db8:5:6701::1', newName());
      expect(await attempt('2001:db8:5:6701::1', newName())).toBeGreaterThan(0);

      expect(await attempt('2001:db8:5:6702::1', newName())).toBe(0);
    }),
  );

  it(
    'slows down many addresses that guess the password of one user',
    withStoppedClock(async () => {
      const username = newName();
      for (let count = 0; count < 20; count += 1) expect(await attempt(newAddress(), username)).toBe(0);

      expect(await attempt(newAddress(), username)).toBeGreaterThan(0);
    }),
  );

  it(
    'does not delay a user at a known address after failures with other names or from other addresses',
    withStoppedClock(async () => {
      const [home, username] = [newAddress(), newName()];
      await logIn(home, username);
      for (let count = 0; count < 25; count += 1) {
        await attempt(newAddress(), username);
        await attempt(home, newName());
      }

      expect(await attempt(newAddress(), username)).toBeGreaterThan(0);
      expect(await attempt(home, newName())).toBeGreaterThan(0);
      expect(await attempt(home, ` ${username.toUpperCase()}`)).toBe(0);
    }),
  );

  it(
    'still slows down guessing of one password at that address',
    withStoppedClock(async () => {
      const [home, username] = [newAddress(), newName()];
      await logIn(home, username);
      for (let count = 0; count < 5; count += 1) expect(await attempt(home, username)).toBe(0);

      expect(await attempt(home, username)).toBeGreaterThan(0);
    }),
  );

  it(
    'counts neither attempts that have to wait nor attempts whose password was right or not checked',
    withStoppedClock(async () => {
      const address = newAddress();
      for (let count = 0; count < 30; count += 1) await logIn(address, newName());
      for (let count = 0; count < 30; count += 1) await sut.cancel(await begin(address, newName()));
      for (let count = 0; count < 20; count += 1) expect(await attempt(address, newName())).toBe(0);
      const [first, second] = [newName(), newName()];
      for (let count = 0; count < 30; count += 1) expect(await attempt(address, first)).toBeGreaterThan(0);

      expect(await attempt(newAddress(), first)).toBe(0);
      expect(await attempt(newAddress(), second)).toBe(0);
    }),
  );

  it('keeps the budget of an address apart from that of a user name that looks like its key', async () => {
    const address = newAddress();
    expect(await attempt(address, `address ${address}`)).toBe(0);
    for (let count = 0; count < 25; count += 1) await attempt(newAddress(), `address ${address}`);

    expect(await attempt(address, newName())).toBe(0);
  });

  it('allows one attempt per minute when a budget is used up', async () => {
    const address = newAddress();
    for (let count = 0; count < 20; count += 1) await attempt(address, newName());
    await dataSource.query("UPDATE login_budgets SET updated_at = updated_at - interval '61 seconds'");

    expect(await attempt(address, newName())).toBe(0);
    expect(await attempt(address, newName())).toBeGreaterThan(0);
  });

  it('allows no more than the budget to parallel attempts', async () => {
    const address = newAddress();
    let allowed = 0;
    const keepTrying = async (): Promise<void> => {
      for (let count = 0; count < 3; count += 1) if ((await attempt(address, newName())) === 0) allowed += 1;
    };
    // Use every connection of the pool.
    await Promise.all(Array.from({ length: 10 }, keepTrying));

    expect(allowed).toBe(20);
  });

  it('forgets failures from the future, which were stored before the clock was set back', async () => {
    const [home, username] = [newAddress(), newName()];
    for (let count = 0; count < 20; count += 1) await attempt(newAddress(), username);
    for (let count = 0; count < 6; count += 1) await attempt(home, newName());
    await dataSource.query("UPDATE login_budgets SET level = 20, updated_at = now() + interval '1 day'");

    expect(await attempt(newAddress(), username)).toBe(0);
    expect(await attempt(home, newName())).toBe(0);
    await dataSource.query('DELETE FROM login_budgets');
  });

  it('stores no hash of a user name that can be computed without SECRET_KEY', async () => {
    const [address, username] = [newAddress(), newName()];
    await logIn(address, username);
    await attempt(address, username);
    const stored = await dataSource.query<{ hash: string }[]>(
      `SELECT encode(username_hash, 'hex') AS hash FROM known_logins WHERE address = $1
       UNION ALL SELECT encode(username_hash, 'hex') FROM login_failures WHERE address = $1`,
      [address],
    );
    const other = new LoginThrottle(dataSource, { SECRET_KEY: ['another secret key of the tests'] });

    expect(stored).toHaveLength(2);
    expect(stored).not.toContainEqual({ hash: createHash('sha256').update(username).digest('hex') });
    expect(await sut.identify(address, username)).toMatchObject({ isKnown: true });
    expect(await other.identify(address, username)).toMatchObject({ isKnown: false });
  });

  it('identifies all attempts of a flood with one connection to the database', async () => {
    const [home, username] = [newAddress(), newName()];
    await logIn(home, username);
    const single = await connectGateway(database, 1);
    try {
      const flooded = new LoginThrottle(single, config);
      const attempts = [
        ...Array.from({ length: 500 }, () => flooded.identify(newAddress(), username)),
        flooded.identify(home, username.toUpperCase()),
      ];
      const known = (await Promise.all(attempts)).map(({ isKnown }) => isKnown);

      expect(known.indexOf(true)).toBe(500);
    } finally {
      await single.destroy();
    }
  });

  it('deletes what no longer counts', async () => {
    await logIn(newAddress(), newName());
    await attempt(newAddress(), newName());
    await dataSource.query("UPDATE login_budgets SET updated_at = updated_at - interval '1 day'");
    await dataSource.query("UPDATE known_logins SET last_at = last_at - interval '91 days'");
    await logIn(newAddress(), newName());
    await sut.prune();

    const [counts] = await dataSource.query<{ budgets: number; known: number }[]>(
      'SELECT (SELECT count(*)::int FROM login_budgets) AS budgets, (SELECT count(*)::int FROM known_logins) AS known',
    );
    expect(counts).toEqual({ budgets: 2, known: 1 });
  });
});
