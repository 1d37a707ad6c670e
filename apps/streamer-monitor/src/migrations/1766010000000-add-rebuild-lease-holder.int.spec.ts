import { connectDatabase } from '@stream-events/database';
import { createEmptyDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { RebuildsRepository } from '../rebuild/rebuilds.repository.js';
import { schema } from '../streamer-monitor.database.js';
import { AddRebuildLeaseHolder1766010000000 } from './1766010000000-add-rebuild-lease-holder.js';

const { entities, migrations } = schema;
const done = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';
const running = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c12';
// This SQL is from version 0.1.0 (commit 471d8fb).
const lease = "interval '60 seconds'";

let database: TestDatabase;
let before: DataSource;
let after: DataSource;

function connect(run: typeof migrations): Promise<DataSource> {
  const pool = {
    url: database.urlFor(schema.name),
    schema: schema.name,
    applicationName: 'test',
    poolSize: 1,
  };
  return connectDatabase({ ...pool, entities, migrations: run });
}

beforeAll(async () => {
  database = await createEmptyDatabase();
  before = await connect(migrations.filter((migration) => migration !== AddRebuildLeaseHolder1766010000000));
  for (const [id, state] of [
    [done, 'done'],
    [running, 'running'],
  ])
    await before.query(
      `INSERT INTO rebuilds (id, state, streamers_done, streamers_total, streams_changed, started_at, leased_until)
       VALUES ($1, $2, 3, 9, 1, now(), now() + ${lease})`,
      [id, state],
    );
  after = await connect(migrations);
});
afterAll(async () => {
  await Promise.all([before, after].map((dataSource) => dataSource.destroy()));
  await database.drop();
});

describe(AddRebuildLeaseHolder1766010000000.name, () => {
  it('keeps the rebuilds of version 0.1.0, and the lease of the one that runs', async () => {
    const rebuilds = new RebuildsRepository(after);

    expect(await after.query('SELECT id, state, leased_by FROM rebuilds ORDER BY id')).toEqual([
      { id: done, state: 'done', leased_by: null },
      { id: running, state: 'running', leased_by: null },
    ]);
    expect(await rebuilds.readLatest()).toMatchObject({
      state: 'running',
      streamersDone: 3,
      streamersTotal: 9,
    });
    expect(await rebuilds.begin(running)).toBe(false);
  });

  it('lets an instance of version 0.1.0 continue and end its rebuild', async () => {
    await before.query(
      `UPDATE rebuilds SET streamers_done = $2, streams_changed = $3, leased_until = now() + ${lease},
         streamers_total = greatest(streamers_total, $2)
       WHERE id = $1 AND state = 'running'`,
      [running, 9, 2],
    );
    await before.query(
      `UPDATE rebuilds SET state = $2, error = $3, ended_at = now() WHERE id = $1 AND state = 'running'`,
      [running, 'done', null],
    );

    expect(await new RebuildsRepository(after).readLatest()).toMatchObject({
      state: 'done',
      streamersDone: 9,
    });
  });
});
