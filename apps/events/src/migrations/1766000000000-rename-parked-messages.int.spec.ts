import { connectDatabase } from '@stream-events/database';
import { createLogger } from '@stream-events/service';
import { createEmptyDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { newEvent } from '../../test/new-event.js';
import { schema } from '../events.database.js';
import { DeadLettersRepository } from '../store/dead-letters.repository.js';
import { RenameParkedMessages1766000000000 } from './1766000000000-rename-parked-messages.js';

const { entities, migrations } = schema;
const key = '11111111-1111-4111-8111-111111111111';
const first = newEvent({ eventData: '' });
const second = newEvent({ eventData: '{' });

let database: TestDatabase;
let before: DataSource;
let after: DataSource;

function connect(run: typeof migrations): Promise<DataSource> {
  const pool = {
    url: database.urlFor(schema.name),
    schema: schema.name,
    applicationName: 'events-test',
    poolSize: 1,
  };
  return connectDatabase({ ...pool, entities, migrations: run });
}

/** Parks an event with the SQL of version 0.1.0 (commit 471d8fb). */
async function park(messageKey: string, event: typeof first, reason: string): Promise<string | undefined> {
  const [parked] = await before.query<{ event_id: string }[]>(
    `INSERT INTO parked_messages (key, event_id, message, sql_state, reason) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (key) DO UPDATE SET sql_state = excluded.sql_state, reason = excluded.reason
       RETURNING event_id`,
    [messageKey, event.id, Buffer.from(JSON.stringify(event)), '22P02', reason],
  );
  return parked?.event_id;
}

beforeAll(async () => {
  database = await createEmptyDatabase();
  before = await connect(migrations.filter((migration) => migration !== RenameParkedMessages1766000000000));
  await park(key, first, 'as parked');
  await before.query("UPDATE parked_messages SET parked_at = '2026-11-21T07:30:00Z'");
  after = await connect(migrations);
});
afterAll(async () => {
  await Promise.all([before, after].map((dataSource) => dataSource.destroy()));
  await database.drop();
});

describe(RenameParkedMessages1766000000000.name, () => {
  const find = (id: string) => new DeadLettersRepository(after, createLogger('test', 'silent')).find(id);

  it('keeps the parked messages of version 0.1.0 as dead letters', async () => {
    expect(await find(first.id)).toEqual({
      key,
      event: first,
      sqlState: '22P02',
      reason: 'as parked',
      failedAt: Date.parse('2026-11-21T07:30:00Z'),
    });
  });

  it('lets a running instance of version 0.1.0 park, list, find, count, and discard messages', async () => {
    const otherKey = '22222222-2222-4222-8222-222222222222';

    expect(await park(key, second, 'as parked again')).toBe(first.id);
    expect(await park(otherKey, second, 'new')).toBe(second.id);

    expect(await find(first.id)).toMatchObject({ reason: 'as parked again' });
    expect(await find(second.id)).toMatchObject({ reason: 'new', failedAt: expect.any(Number) });
    const columns = `sql_state AS "sqlState", reason, floor(extract(epoch FROM parked_at) * 1000)::float AS "parkedAt"`;
    const listed = await before.query<{ names: string }[]>(
      `SELECT split_part(convert_from(message, 'UTF8'), ',"eventData":', 1) || '}' AS names, ${columns}
       FROM parked_messages WHERE event_id < $1 ORDER BY event_id DESC LIMIT $2`,
      ['ffffffff-ffff-ffff-ffff-ffffffffffff', 10],
    );
    expect(listed.map(({ names }) => (JSON.parse(names) as { id: string }).id)).toEqual([
      second.id,
      first.id,
    ]);
    expect(
      await before.query(
        `SELECT key, message, ${columns} FROM parked_messages WHERE event_id = $1 ORDER BY key LIMIT 1`,
        [second.id],
      ),
    ).toMatchObject([{ key: otherKey, parkedAt: expect.any(Number) }]);
    await before.query('DELETE FROM parked_messages WHERE key = $1', [otherKey]);
    expect(await before.query('SELECT count(*)::int AS count FROM parked_messages')).toEqual([{ count: 1 }]);
  });
});
