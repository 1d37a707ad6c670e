import { createEmptyDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource, QueryRunner } from 'typeorm';
import {
  advisoryLocks,
  keyedAdvisoryLocks,
  takeAdvisoryLock,
  takeKeyedAdvisoryLock,
  takeKeyedAdvisoryLocks,
} from './advisory-locks.js';
import { connectDatabase } from './connect-database.js';

const names = Object.keys(advisoryLocks) as (keyof typeof advisoryLocks)[];
// One test holds every lock and two keyed locks at once, each in its own transaction.
const poolSize = names.length + 2;

describe('advisoryLocks', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let sessions: QueryRunner[];

  beforeAll(async () => {
    database = await createEmptyDatabase(['shop']);
    const pool = { url: database.urlFor('shop'), schema: 'shop', applicationName: 'shop-test', poolSize };
    // A slow machine may need more than 3 s to open all connections at once.
    const connectTimeoutMs = 30_000;
    dataSource = await connectDatabase({ ...pool, entities: [], migrations: [], connectTimeoutMs });
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });
  beforeEach(() => {
    sessions = [];
  });
  afterEach(async () => {
    for (const session of sessions) {
      await session.rollbackTransaction();
      await session.release();
    }
  });

  /** Begins a transaction that waits only briefly for a lock. */
  async function begin(): Promise<QueryRunner> {
    const session = dataSource.createQueryRunner();
    sessions.push(session);
    await session.startTransaction();
    await session.query("SET LOCAL lock_timeout = '300ms'");
    // Sessions wait for each other, and PostgreSQL would end an idle one after 10 s.
    await session.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    return session;
  }

  it.each([
    ['advisoryLocks', Object.values<number>(advisoryLocks)],
    ['keyedAdvisoryLocks', Object.values<number>(keyedAdvisoryLocks)],
  ])('gives each purpose its own number: %s', (_, numbers) => {
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('can all be held at the same time, by different transactions', async () => {
    for (const name of names) await takeAdvisoryLock(await begin(), name);
    for (const key of ['a', 'b']) await takeKeyedAdvisoryLock(await begin(), 'appToken', key);
  });

  it('can be taken for several keys at once in any order, without deadlocks', async () => {
    const keys = Array.from({ length: 30 }, (_, n) => `key ${n}`);
    const orders = [keys, keys.toReversed(), [...keys.slice(15), ...keys.slice(0, 15), 'key 0']];
    const takeAll = async (order: string[]): Promise<void> => {
      for (let round = 0; round < 6; round += 1)
        await dataSource.transaction((transaction) =>
          takeKeyedAdvisoryLocks(transaction, 'raidChannels', order),
        );
    };

    // One call per connection of the pool; more would wait for a connection and could time out.
    await Promise.all(Array.from({ length: poolSize }, (_, n) => takeAll(orders[n % orders.length] ?? [])));

    const first = await begin();
    await takeKeyedAdvisoryLocks(first, 'raidChannels', keys);
    await expect(takeKeyedAdvisoryLock(await begin(), 'raidChannels', 'key 29')).rejects.toThrow(
      /lock timeout/,
    );
  });

  it('excludes a second transaction until the first one ends', async () => {
    const first = await begin();
    await takeAdvisoryLock(first, 'pollClaims');
    await takeKeyedAdvisoryLock(first, 'appToken', 'a');

    await expect(takeAdvisoryLock(await begin(), 'pollClaims')).rejects.toThrow(/lock timeout/);
    await expect(takeKeyedAdvisoryLock(await begin(), 'appToken', 'a')).rejects.toThrow(/lock timeout/);
    await first.commitTransaction();
    await first.startTransaction();

    await takeAdvisoryLock(await begin(), 'pollClaims');
  });
});
