import { strict as assert } from 'node:assert';
import { ServiceError } from '@stream-events/contracts';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource, EntityManager } from 'typeorm';
import { connectGateway } from '../../test/connect-gateway.js';
import { LoginFailures } from './login-failures.repository.js';
import { UsernameHasher } from './username-hasher.js';

describe(LoginFailures.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let pairs = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectGateway(database, 10);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  function newPair(): Pair {
    pairs += 1;
    return [`192.0.2.${pairs}`, `user-${pairs}`];
  }

  /** Runs a test in one transaction. `now()` is constant there, so waits are exact. */
  const withStoppedClock = (test: (setup: Setup) => Promise<void>) => (): Promise<void> =>
    dataSource.transaction((manager) => test(new Setup(manager)));

  it(
    'allows five attempts and blocks the sixth',
    withStoppedClock(async (setup) => {
      const pair = newPair();

      expect(await setup.attempt(5, pair)).toEqual([]);
      expect(await setup.attempt(1, pair)).toEqual([1]);
    }),
  );

  it(
    'does not count blocked attempts, so that they do not extend the wait',
    withStoppedClock(async (setup) => {
      const pair = newPair();
      await setup.attempt(15, pair);

      expect(await setup.failuresOf(pair)).toBe(5);
    }),
  );

  it(
    'doubles the wait with each further failure, up to 15 minutes',
    withStoppedClock(async (setup) => {
      const pair = newPair();
      await setup.attempt(5, pair);
      const waits: number[] = [];
      for (let round = 0; round < 12; round += 1) {
        waits.push(...(await setup.attempt(1, pair)));
        await setup.letTimePass('900 seconds', pair);
        expect(await setup.attempt(1, pair)).toEqual([]);
      }

      expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    }),
  );

  it(
    'still blocks after more than a thousand failures',
    withStoppedClock(async (setup) => {
      const pair = newPair();
      await setup.attempt(5, pair);
      await setup.setFailures(1_100, pair);

      expect(await setup.attempt(1, pair)).toEqual([900]);
    }),
  );

  it(
    'does not block because of failures in the future, from before the clock was set back',
    withStoppedClock(async (setup) => {
      const pair = newPair();
      await setup.attempt(5, pair);
      await setup.setFailures(20, pair);
      await setup.letTimePass('-1 day', pair);

      expect(await setup.attempt(1, pair)).toEqual([]);
    }),
  );

  it(
    'blocks until the end of the wait, and reports the remaining time',
    withStoppedClock(async (setup) => {
      const pair = newPair();
      await setup.attempt(5, pair);
      await setup.setFailures(11, pair);

      await setup.letTimePass('30.5 seconds', pair);
      expect(await setup.attempt(1, pair)).toEqual([34]);
      await setup.letTimePass('33.499 seconds', pair);
      expect(await setup.attempt(1, pair)).toEqual([1]);
      await setup.letTimePass('1 millisecond', pair);
      expect(await setup.attempt(1, pair)).toEqual([]);
    }),
  );

  it(
    'resets the count after an hour',
    withStoppedClock(async (setup) => {
      const pair = newPair();
      await setup.attempt(5, pair);
      await setup.setFailures(1_000, pair);
      await setup.letTimePass('61 minutes', pair);

      expect(await setup.attempt(5, pair)).toEqual([]);
      expect(await setup.failuresOf(pair)).toBe(5);
    }),
  );

  it(
    'counts each pair of address and user name separately, so that nobody can lock out others',
    withStoppedClock(async (setup) => {
      const pair = newPair();
      await setup.attempt(6, pair);

      expect(await setup.attempt(1, ['198.51.100.1', pair[1]])).toEqual([]);
      expect(await setup.attempt(1, [pair[0], 'another name'])).toEqual([]);
    }),
  );

  it(
    'treats all spellings of a user name as the same name, like the login',
    withStoppedClock(async (setup) => {
      const [address, username] = newPair();
      const spellings = [
        username.toUpperCase(),
        ` ${username}`,
        `${username} `,
        `\t${username}\n`,
        `\u00a0${username}`,
      ];
      for (const spelling of spellings) await setup.attempt(1, [address, spelling]);

      expect(await setup.attempt(1, [address, username])).toEqual([1]);
    }),
  );

  it(
    'resets only the pair of a successful login',
    withStoppedClock(async (setup) => {
      const [pair, other] = [newPair(), newPair()];
      await setup.attempt(6, pair);
      await setup.attempt(6, other);
      await setup.sut.forget(pair[0], setup.hash(` ${pair[1].toUpperCase()}`));

      expect(await setup.attempt(5, pair)).toEqual([]);
      expect(await setup.attempt(1, other)).toEqual([1]);
    }),
  );

  it(
    'deletes failures older than an hour and keeps the rest',
    withStoppedClock(async (setup) => {
      const [old, fresh] = [newPair(), newPair()];
      await setup.attempt(1, old);
      await setup.attempt(1, fresh);
      await setup.letTimePass('61 minutes', old);
      await setup.letTimePass('59 minutes', fresh);
      await setup.sut.prune();

      expect(await setup.failuresOf(old)).toBeUndefined();
      expect(await setup.failuresOf(fresh)).toBe(1);
    }),
  );

  it('counts every allowed attempt of many parallel ones', async () => {
    const setup = new Setup(dataSource.manager);
    const pair = newPair();
    const passed = await setup.attemptAtOnce(40, pair);

    expect(passed).toBeGreaterThanOrEqual(5);
    expect(await setup.failuresOf(pair)).toBe(passed);
  });

  it('allows one of many parallel attempts when a wait is over', async () => {
    const setup = new Setup(dataSource.manager);
    const pair = newPair();
    await setup.attempt(1, pair);
    await setup.setFailures(15, pair);
    await setup.letTimePass('901 seconds', pair);

    expect(await setup.attemptAtOnce(40, pair)).toBe(1);
    expect(await setup.failuresOf(pair)).toBe(16);
  });
});

type Pair = [address: string, username: string];

class Setup {
  readonly sut: LoginFailures;

  constructor(private readonly manager: EntityManager) {
    this.sut = new LoginFailures(manager);
  }

  hash(username: string): Buffer {
    return new UsernameHasher(['a secret key of the tests, long enough']).hash(username);
  }

  query<Row>(sql: string, values: unknown[]): Promise<Row[]> {
    return this.manager.query<Row[]>(sql, values);
  }

  /** Makes attempts one after another. Returns the waits of the blocked ones, in seconds. */
  async attempt(times: number, [address, username]: Pair): Promise<number[]> {
    const refused: number[] = [];
    for (let time = 0; time < times; time += 1) {
      const [outcome] = await Promise.allSettled([this.sut.countAttempt(address, this.hash(username))]);
      if (outcome.status === 'fulfilled') continue;
      const error: unknown = outcome.reason;
      assert(error instanceof ServiceError, String(error));
      expect(error.code).toBe('too_many_requests');
      refused.push(error.retryAfterSeconds ?? NaN);
    }
    return refused;
  }

  /** Makes attempts in parallel. Returns how many were allowed. */
  async attemptAtOnce(times: number, [address, username]: Pair): Promise<number> {
    const outcomes = await Promise.allSettled(
      Array.from({ length: times }, () => this.sut.countAttempt(address, this.hash(username))),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'too_many_requests' });
    }
    return outcomes.filter(({ status }) => status === 'fulfilled').length;
  }

  /** Moves the pair's last failure into the past. */
  async letTimePass(interval: string, [address]: Pair): Promise<void> {
    const sql = 'UPDATE login_failures SET last_failed_at = last_failed_at - $1::interval WHERE address = $2';
    await this.query(sql, [interval, address]);
  }

  async setFailures(failures: number, [address]: Pair): Promise<void> {
    await this.query('UPDATE login_failures SET failures = $1 WHERE address = $2', [failures, address]);
  }

  async failuresOf([address]: Pair): Promise<number | undefined> {
    const sql = 'SELECT failures FROM login_failures WHERE address = $1';
    const [row] = await this.query<{ failures: number }>(sql, [address]);
    return row?.failures;
  }
}
