import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { createLogger, Registry } from '@stream-events/service';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGateway } from '../../test/connect-gateway.js';
import { dayOf, mebibyte } from './storage-budgets.js';
import { StorageLimits } from './storage-limits.service.js';
import { StoredBytesRepository } from './stored-bytes.repository.js';

describe(StorageLimits.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let stream: { maxBytes: number; maxAgeMs: number } | undefined;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectGateway(database, 5);
  });

  beforeEach(async () => {
    stream = undefined;
    // Stop the clock at noon: a new day begins at midnight and would change the counts.
    jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 10, 23, 12));
    await dataSource.query('TRUNCATE stored_bytes');
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** Creates the storage limits of one gateway. All gateways share the database. */
  function startGateway(metrics = new Registry(), perDay = 10): StorageLimits {
    return new StorageLimits(
      new StoredBytesRepository(dataSource),
      { findLimits: () => Promise.resolve(stream) },
      { MAX_STORED_MB_PER_DAY: perDay },
      createLogger('test', 'silent'),
      metrics,
    );
  }

  const insert = (day: string, userId: string, bytes: number): Promise<unknown> =>
    dataSource.query('INSERT INTO stored_bytes (day, user_id, bytes) VALUES ($1, $2, $3)', [
      day,
      userId,
      bytes,
    ]);
  const daysAgo = (count: number): string => dayOf(Date.now() - count * 86_400_000);
  const isAccepted = (limits: StorageLimits, userId: string, megabytes: number): boolean => {
    try {
      limits.take(userId, megabytes * mebibyte);
      return true;
    } catch {
      return false;
    }
  };

  it('applies to all gateways together, as soon as they have exchanged their counts', async () => {
    const [one, other] = [startGateway(), startGateway()];
    const user = randomUUID();
    expect(isAccepted(one, user, 6)).toBe(true);
    expect(isAccepted(other, user, 1)).toBe(true);
    await one.sync();
    await other.sync();

    expect(isAccepted(other, user, 4)).toBe(false);
    expect(isAccepted(other, user, 3)).toBe(true);
    await other.sync();
    expect(await dataSource.query('SELECT user_id, bytes FROM stored_bytes')).toEqual([
      { user_id: user, bytes: String(10 * mebibyte) },
    ]);
  });

  it('survives a restart of the gateway, which writes its last counts when it stops', async () => {
    const user = randomUUID();
    const before = startGateway();
    expect(isAccepted(before, user, 9)).toBe(true);
    await before.onModuleDestroy();
    const after = startGateway();
    await after.sync();

    expect(isAccepted(after, user, 2)).toBe(false);
  });

  it('adds the counts of many gateways at the same time without a deadlock', async () => {
    const users = Array.from({ length: 200 }, () => randomUUID());
    const gateways = Array.from({ length: 4 }, () => startGateway());
    for (let round = 0; round < 5; round += 1) {
      for (const [index, gateway] of gateways.entries())
        for (const user of index % 2 === 0 ? users : [...users].reverse()) gateway.take(user, 1_000);
      await Promise.all(gateways.map((gateway) => gateway.sync()));
    }
    const rows = await dataSource.query<{ bytes: string }[]>('SELECT DISTINCT bytes FROM stored_bytes');
    expect(rows).toEqual([{ bytes: '20000' }]);
  });

  it('counts the days of the stream’s window against the share of all users, and deletes earlier days', async () => {
    const [user, other] = [randomUUID(), randomUUID()];
    await insert(daysAgo(8), user, 50 * mebibyte);
    await insert(daysAgo(7), user, 3 * mebibyte);
    await insert(daysAgo(1), other, 2 * mebibyte);
    stream = { maxBytes: 100 * mebibyte, maxAgeMs: 7 * 86_400_000 };
    const metrics = new Registry();
    const limits = startGateway(metrics);
    await limits.sync();

    // All users share 10 MiB, and 5 MiB of them are free. This user has 3 MiB and can store 2 MiB more.
    expect(isAccepted(limits, user, 2.1)).toBe(false);
    expect(isAccepted(limits, user, 2)).toBe(true);
    const remaining = await dataSource.query<{ day: string }[]>(
      'SELECT day::text FROM stored_bytes ORDER BY day',
    );
    expect(remaining.map(({ day }) => day)).toEqual([daysAgo(7), daysAgo(1)]);
    expect(await metrics.metrics()).toMatch(/gateway_client_share_used_ratio 0\.7\n/);
    expect(await metrics.metrics()).toContain('gateway_storage_refusals_total{limit="events_share"} 1');
  });

  it('limits nothing and writes nothing when MAX_STORED_MB_PER_DAY is 0', async () => {
    stream = { maxBytes: mebibyte, maxAgeMs: 7 * 86_400_000 };
    const limits = startGateway(new Registry(), 0);
    await limits.sync();
    expect(isAccepted(limits, randomUUID(), 1_000_000)).toBe(true);
    await limits.sync();

    expect(await dataSource.query('SELECT * FROM stored_bytes')).toEqual([]);
  });

  it('counts again what could not be written', async () => {
    const user = randomUUID();
    const limits = startGateway();
    limits.take(user, 9 * mebibyte);
    await dataSource.query('ALTER TABLE stored_bytes RENAME TO unavailable');
    await expect(limits.sync()).rejects.toThrow();
    expect(isAccepted(limits, user, 2)).toBe(false);
    await dataSource.query('ALTER TABLE unavailable RENAME TO stored_bytes');
    await limits.sync();

    expect(await dataSource.query('SELECT bytes FROM stored_bytes')).toEqual([
      { bytes: String(9 * mebibyte) },
    ]);
  });
});
