import { randomUUID } from 'node:crypto';
import { createEmptyDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectDatabase } from './connect-database.js';
import { LeaseColumns } from './lease.js';

describe(LeaseColumns.name, () => {
  const lease = new LeaseColumns({ holder: 'leased_by', until: 'leased_until' }, 600);
  const [one, two] = [randomUUID(), randomUUID()];
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createEmptyDatabase(['shop']);
    const pool = { url: database.urlFor('shop'), schema: 'shop', applicationName: 'shop-test', poolSize: 2 };
    dataSource = await connectDatabase({ ...pool, entities: [], migrations: [] });
    await dataSource.query(
      'CREATE TABLE jobs (id int PRIMARY KEY, leased_by uuid, leased_until timestamptz)',
    );
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });
  beforeEach(async () => {
    await dataSource.query('TRUNCATE jobs');
    await dataSource.query(`INSERT INTO jobs VALUES (1, $1, ${lease.end})`, [one]);
  });

  const update = async (assignments: string, condition: string, holder: string): Promise<number> => {
    const sql = `WITH changed AS (UPDATE jobs SET ${assignments} WHERE ${condition} AND $1::uuid IS NOT NULL RETURNING id)
                 SELECT id FROM changed`;
    return (await dataSource.query<unknown[]>(sql, [holder])).length;
  };
  const takeOver = (holder: string): Promise<number> => update(lease.take('$1'), lease.isExpired, holder);
  const renew = (holder: string): Promise<number> => update(lease.renewal, lease.isHeldBy('$1'), holder);
  const setEnd = (end: string): Promise<unknown> => dataSource.query(`UPDATE jobs SET leased_until = ${end}`);

  it('belongs only to its holder until it expires', async () => {
    expect(await takeOver(two)).toBe(0);
    expect(await renew(two)).toBe(0);
    expect(await renew(one)).toBe(1);
  });

  it('can be taken when it has expired, and its old holder notices', async () => {
    await setEnd("now() - interval '1 millisecond'");

    expect(await takeOver(two)).toBe(1);

    expect(await renew(one)).toBe(0);
    expect(await renew(two)).toBe(1);
  });

  it('can be renewed by its holder after it expired, if no other instance has taken it', async () => {
    await setEnd("now() - interval '1 minute'");

    expect(await renew(one)).toBe(1);

    expect(await takeOver(two)).toBe(0);
  });

  it('can be taken when it ends later than possible, because the clock was set back', async () => {
    await setEnd("now() + interval '1 hour'");

    expect(await takeOver(two)).toBe(1);
  });

  it('can be taken at once when it is released', async () => {
    expect(await update(lease.release, lease.isHeldBy('$1'), two)).toBe(0);
    expect(await update(lease.release, lease.isHeldBy('$1'), one)).toBe(1);

    expect(await takeOver(two)).toBe(1);
  });
});
