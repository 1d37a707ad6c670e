import { jest } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { AccessTokens, hashToken } from './access-tokens.service.js';
import { User } from './user.entity.js';
import { v7 as uuidV7 } from 'uuid';
import { connectGateway } from '../../test/connect-gateway.js';

const secretKey = 'a secret key of the tests, long enough';

describe(AccessTokens.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let names = 0;

  const connect = (): Promise<DataSource> => connectGateway(database, 5);

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connect();
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** The service of one gateway. Several gateways share the database. */
  function setup(secretKeys = [secretKey]): AccessTokens {
    return new AccessTokens(dataSource, { SECRET_KEY: secretKeys });
  }

  /** Creates a user with a token, without spending time on hashing a password. */
  async function register(): Promise<{ id: string; username: string; token: string }> {
    names += 1;
    const [id, username] = [uuidV7(), `user-${names}`];
    await dataSource.manager.insert(User, {
      id,
      username,
      usernameKey: username,
      passwordHash: '',
      role: 'user',
      firstName: '',
      lastName: '',
      email: '',
      isDisabled: false,
    });
    return { id, username, token: await setup().issue(id) };
  }

  it('identifies a key and no other text', async () => {
    const tokens = setup();
    const { id, username, token } = await register();

    expect(await tokens.identify(token)).toEqual({ id, username, role: 'user' });
    for (const other of [
      '',
      token.toUpperCase(),
      token.slice(1),
      `${token}0`,
      "' OR true --",
      'x'.repeat(10_000),
    ]) {
      expect(await tokens.identify(other)).toBeUndefined();
    }
  });

  it('invalidates the old key when it issues a new one, also in its cache', async () => {
    const tokens = setup();
    const { id, token } = await register();
    await tokens.identify(token);
    const rotated = await tokens.issue(id);

    expect(rotated).not.toBe(token);
    expect(await tokens.identify(token)).toBeUndefined();
    expect(await tokens.identify(rotated)).toMatchObject({ id });
    expect(await tokens.reveal(id)).toBe(rotated);
  });

  it('rejects a key within a second after another gateway invalidates it', async () => {
    const tokens = setup();
    const { id, token } = await register();
    const elsewhere = setup();
    const now = jest.spyOn(Date, 'now');
    try {
      now.mockReturnValue(1_000_000);
      await tokens.identify(token);
      await elsewhere.issue(id);
      now.mockReturnValue(1_001_000);

      expect(await tokens.identify(token)).toBeUndefined();
    } finally {
      now.mockRestore();
    }
  });

  it('reads a repeated key from the cache', async () => {
    const tokens = setup();
    const { token } = await register();
    const query = jest.spyOn(dataSource, 'query');
    const now = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
    try {
      for (let time = 0; time < 10; time += 1) await tokens.identify(token);

      expect(query).toHaveBeenCalledTimes(1);
    } finally {
      now.mockRestore();
      query.mockRestore();
    }
  });

  it('rejects the key of a disabled user and accepts it again when the user is enabled', async () => {
    const tokens = setup();
    const { id, token } = await register();
    await tokens.identify(token);
    await dataSource.manager.update(User, { id }, { isDisabled: true });
    tokens.forget();
    expect(await tokens.identify(token)).toBeUndefined();
    await dataSource.manager.update(User, { id }, { isDisabled: false });

    expect(await tokens.identify(token)).toMatchObject({ id });
  });

  it('finds ended tokens despite its cache', async () => {
    const tokens = setup();
    const [kept, rotated, disabled, deleted] = await Promise.all(Array.from({ length: 4 }, register));
    const hashes = [kept!, rotated!, disabled!, deleted!].map(({ token }) => hashToken(token));
    await Promise.all([rotated!, disabled!].map(({ token }) => tokens.identify(token)));
    expect(await tokens.findEnded(hashes)).toEqual([]);
    expect(await tokens.findEnded([])).toEqual([]);

    await setup().issue(rotated!.id);
    await dataSource.manager.update(User, { id: disabled!.id }, { isDisabled: true });
    await dataSource.query('DELETE FROM access_tokens WHERE user_id = $1', [deleted!.id]);
    const ended = await tokens.findEnded([...hashes, hashToken('never issued')]);
    expect(ended.sort()).toEqual([...hashes.slice(1), hashToken('never issued')].sort());
  });

  it('stores no key in plain text', async () => {
    const { token } = await register();
    const rows = await dataSource.query<{ row: string }[]>(
      `SELECT row_to_json(access_tokens)::text || encode(key_hash, 'escape') AS row FROM access_tokens`,
    );
    const texts = rows.map(({ row }) => row).join('\n');

    expect(texts).not.toContain(token);
    expect(texts).not.toContain(Buffer.from(token).toString('base64'));
    expect(texts).not.toContain(Buffer.from(token, 'hex').toString('base64'));
  });

  it('decrypts a key after a rotation of SECRET_KEY while the old key is in the list', async () => {
    const { id, token } = await register();
    const added = 'a newer secret key of the tests, long';

    expect(await setup([added, secretKey]).reveal(id)).toBe(token);
    await expect(setup([added]).reveal(id)).rejects.toThrow(/SECRET_KEY/);
  });

  it('does not decrypt a key that was copied to another user', async () => {
    const [one, two] = [await register(), await register()];
    await dataSource.query(
      `UPDATE access_tokens SET key_encrypted = (SELECT key_encrypted FROM access_tokens WHERE user_id = $1)
         WHERE user_id = $2`,
      [one.id, two.id],
    );

    await expect(setup().reveal(two.id)).rejects.toThrow(/SECRET_KEY/);
  });

  it('keeps one key when several are issued in parallel', async () => {
    const tokens = setup();
    const { id } = await register();
    const keys = await Promise.all(Array.from({ length: 5 }, () => tokens.issue(id)));
    const callers = await Promise.all(keys.map((key) => tokens.identify(key)));

    expect(callers.filter((caller) => caller !== undefined)).toHaveLength(1);
    expect(keys).toContain(await tokens.reveal(id));
  });
});
