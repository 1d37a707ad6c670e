import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectConnector } from '../../test/connect-connector.js';
import { newOwn } from '../../test/subscription-factory.js';
import { ReconciliationSchedule } from './reconciliation-schedule.repository.js';
import { SubscriptionsRepository } from './subscriptions.repository.js';

describe(ReconciliationSchedule.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let schedule: ReconciliationSchedule;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 2);
    schedule = new ReconciliationSchedule(dataSource);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** Adds subscriptions until this many exist on the platform. */
  const addUpTo = async (count: number): Promise<void> => {
    const [row] = await dataSource.query<{ count: number }[]>(
      'SELECT count(*)::int AS count FROM subscriptions',
    );
    const missing = Array.from({ length: count - (row?.count ?? 0) }, () => randomUUID());
    const add = missing.map((id) => newOwn(id, { id, subscriptionId: id, status: 'enabled' }));
    await new SubscriptionsRepository(dataSource).apply({ add, update: [], remove: [] });
  };

  it.each([
    [3, 60],
    [2_000, 60],
    [3_000, 90],
    [10_500, 300],
  ])('lists %d subscriptions again after %d s', async (count, seconds) => {
    await addUpTo(count);
    const holder = randomUUID();
    await dataSource.query('UPDATE reconciliation SET holder = NULL, due_at = now()');
    expect(await schedule.claim(holder)).toMatchObject({ holder });
    await schedule.saveListing(holder, { maxCost: 10_000, foreignCost: 0 });

    const [row] = await dataSource.query<{ seconds: number }[]>(
      'SELECT extract(epoch FROM listing_due_at - now())::float AS seconds FROM reconciliation',
    );
    expect(row?.seconds).toBeGreaterThan(seconds - 10);
    expect(row?.seconds).toBeLessThanOrEqual(seconds);
  });

  it.each([
    [5, false],
    [11, true],
  ])(
    'after the clock was set back, a listing that is due in %d min is due now: %s',
    async (minutes, isDue) => {
      await dataSource.query(
        `UPDATE reconciliation SET holder = NULL, due_at = now(), max_cost = 10000, listing_due_at = now() + make_interval(mins => $1)`,
        [minutes],
      );
      expect(await schedule.claim(randomUUID())).toMatchObject({ isListingDue: isDue });
    },
  );
});
