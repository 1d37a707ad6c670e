import { randomUUID } from 'node:crypto';
import { Registry, SecretBox } from '@stream-events/service';
import { createEmptyDatabase, eventually, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectDatabase } from './connect-database.js';
import type { EncryptedColumn } from './encrypted-columns.js';
import { createEncryptionKeys } from './encryption-key.entity.js';
import { KeyRotation } from './key-rotation.js';

const old = 'the old secret key of the tests';
const fresh = 'the new secret key of the tests';
const lost = 'a secret key that nobody knows now';
const column: EncryptedColumn = { table: 'safe', column: 'secret', boundTo: 'id' };

describe(KeyRotation.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let lines: { level: string; message: string; fields: Record<string, unknown> }[];
  let started: KeyRotation[];

  beforeAll(async () => {
    database = await createEmptyDatabase();
    const pool = { url: database.url, schema: 'shop', applicationName: 'shop-test', poolSize: 5 };
    // A slow machine may need more than 3 s to open all connections at once.
    const connectTimeoutMs = 30_000;
    dataSource = await connectDatabase({ ...pool, entities: [], migrations: [], connectTimeoutMs });
    await dataSource.query(createEncryptionKeys);
    await dataSource.query('CREATE TABLE safe (id uuid PRIMARY KEY, secret text)');
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });
  beforeEach(async () => {
    lines = [];
    started = [];
    await dataSource.query('TRUNCATE encryption_keys, safe');
  });
  afterEach(() => Promise.all(started.map((rotation) => rotation.stop())));

  function create(keys: string[], columns = [column], metrics = new Registry()): KeyRotation {
    const log =
      (level: string) =>
      (fields: Record<string, unknown>, message: string): void =>
        void lines.push({ level, message, fields });
    const logger = { info: log('info'), warn: log('warn'), error: log('error') };
    const rotation = new KeyRotation({
      ...{ schema: 'shop', columns, dataSource, box: new SecretBox(keys), metrics },
      ...{ logger: logger as never, idleMs: 20, progressMs: 0 }, // Safe cast: the rotation only uses these methods.
    });
    started.push(rotation);
    return rotation;
  }

  async function add(count: number, key: string): Promise<void> {
    const box = new SecretBox([key]);
    const ids = Array.from({ length: count }, () => randomUUID());
    await dataSource.query('INSERT INTO safe SELECT * FROM unnest($1::uuid[], $2::text[])', [
      ids,
      ids.map((id) => box.encrypt(`secret of ${id}`, id)),
    ]);
  }

  /** Counts the values that this key alone decrypts. */
  async function countUnder(key: string): Promise<number> {
    const box = new SecretBox([key]);
    const rows = await dataSource.query<{ id: string; secret: string }[]>(
      'SELECT id, secret FROM safe WHERE secret IS NOT NULL',
    );
    return rows.filter(({ id, secret }) => box.open(secret, id)?.text === `secret of ${id}`).length;
  }

  const messages = (level: string): string[] =>
    lines.filter((line) => line.level === level).map(({ message }) => message);

  it('moves every value to the first key, and reports progress and the end', async () => {
    await add(450, old);
    await dataSource.query('INSERT INTO safe VALUES ($1, NULL)', [randomUUID()]);
    const metrics = new Registry();
    const rotation = create([fresh, old], [column], metrics);

    await rotation.start();

    await eventually(async () => expect(await countUnder(fresh)).toBe(450));
    const end =
      'all 450 encrypted values in the schema shop now use the first key of SECRET_KEY. Before you remove an older key, see "Rotate SECRET_KEY" in docs/security.md';
    await eventually(() => expect(messages('info')).toContain(end));
    expect(messages('info')).toEqual([
      'moving stored values to the first key of SECRET_KEY',
      'still moving stored values to the first key of SECRET_KEY',
      'still moving stored values to the first key of SECRET_KEY',
      end,
    ]);
    expect(lines[1]?.fields).toEqual({ table: 'shop.safe', moved: 400, visited: 400, values: 450 });
    expect(await metrics.metrics()).toMatch(
      /encrypted_values\{schema="shop",key="first"\} 450\n.*"older"\} 0\n/,
    );
  });

  it('moves nothing while the first key is the one in use', async () => {
    await add(10, old);
    await create([old, fresh]).start();

    await eventually(() => expect(messages('info')).toHaveLength(1));
    expect(await countUnder(old)).toBe(10);
  });

  it('moves values once with several instances, and not back to the key of an instance with the old order', async () => {
    await add(450, old);
    await create([old, fresh]).start();
    for (const _ of [1, 2, 3]) await create([fresh, old]).start();
    // An instance with the old order of keys starts again.
    await create([old, fresh]).start();

    await eventually(async () => expect(await countUnder(fresh)).toBe(450));
    await eventually(() => expect(messages('info').at(-1)).toMatch(/^all 450 encrypted values/));
    // That instance may still write with the old key.
    await add(3, old);
    await eventually(async () => expect(await countUnder(fresh)).toBe(453));
    expect(lines.reduce((sum, { fields }) => Math.max(sum, Number(fields.moved ?? 0)), 0)).toBe(450);
    expect(messages('warn')).toEqual([]);
  });

  it('does not overwrite a value that changes while it is moved', async () => {
    await add(200, old);
    const [row] = await dataSource.query<{ id: string }[]>('SELECT id FROM safe ORDER BY id LIMIT 1');
    const id = row?.id ?? '';
    const newer = new SecretBox([old]).encrypt('newer', id);
    const racing = {
      query: async (sql: string, values: unknown[]) => {
        if (sql.startsWith('UPDATE safe'))
          await dataSource.query('UPDATE safe SET secret = $2 WHERE id = $1', [id, newer]);
        return dataSource.query<unknown>(sql, values);
      },
    } as unknown as DataSource; // Safe cast: the rotation only uses this method.
    const options = { schema: 'shop', columns: [column], box: new SecretBox([fresh, old]) };
    const logger = { info: () => undefined } as never; // Safe cast: the rotation calls nothing else.

    expect(await new KeyRotation({ ...options, logger, dataSource: racing }).runOnce()).toBe(199);

    expect(await dataSource.query('SELECT secret FROM safe WHERE id = $1', [id])).toEqual([
      { secret: newer },
    ]);
    expect(await new KeyRotation({ ...options, logger, dataSource }).runOnce()).toBe(200);
  });

  it('refuses to start when a value needs a key that is missing, and says how many do', async () => {
    await add(3, lost);
    await add(4, old);

    await expect(create([fresh, old]).start()).rejects.toThrow(
      'SECRET_KEY lacks a key that is still needed: no key in it decrypts 3 of the 7 values in shop.safe.',
    );
  });

  it('still moves values after an instance could not start because of a mistyped key', async () => {
    const before = create([fresh, old]);
    await before.start();
    await before.stop();
    await add(2, old);
    await expect(create([lost]).start()).rejects.toThrow('SECRET_KEY lacks a key');

    await create([fresh, old]).start();

    await eventually(async () => expect(await countUnder(fresh)).toBe(2));
  });

  it('starts when the missing value can be replaced, and moves the others', async () => {
    await add(3, lost);
    await add(4, old);

    await create([fresh, old], [{ ...column, isReplaceable: true }]).start();

    await eventually(async () => expect(await countUnder(fresh)).toBe(4));
    await eventually(() => expect(messages('info').at(-1)).toMatch(/^all 4 encrypted values/));
  });

  it('reports values that no key decrypts once, with their number, and moves the others', async () => {
    await add(4, old);
    await create([fresh, old]).start();
    await add(2, lost);
    await add(1, old);

    const last = (): string | undefined => messages('error').at(-1);
    await eventually(() => expect(last()).toMatch(/decrypts 2 of the [67] values in shop\.safe/));
    await eventually(async () => expect(await countUnder(fresh)).toBe(5));
    const { length } = messages('error');
    await add(1, old);
    await eventually(async () => expect(await countUnder(fresh)).toBe(6));
    expect(messages('error')).toHaveLength(length);
  });
});
