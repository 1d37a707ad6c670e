import { jest } from '@jest/globals';
import type { Alarms, Logger } from '@stream-events/service';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { connectGateway } from '../../test/connect-gateway.js';
import { insertUser } from '../../test/insert-user.js';
import type { Caller } from '../access/caller.js';
import { TokenLookup } from '../access/token-lookup.service.js';
import { NamedToken } from './named-token.entity.js';
import { TokenUpkeep } from './token-upkeep.service.js';
import { maxNamedTokens, Tokens, type IssuedToken, type NamedTokenFields } from './tokens.service.js';

// Some tests issue a hundred tokens one after another, which takes a minute on a busy machine.
jest.setTimeout(240_000);

const secretKey = 'a secret key of the tests, long enough';

const fields: NamedTokenFields = {
  name: 'overlay',
  scopes: ['events:read'],
  eventTypes: null,
  channelIds: null,
  expiresAt: null,
};

describe(Tokens.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  const connect = (): Promise<DataSource> => connectGateway(database, 5);

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connect();
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** Creates the service of one gateway. All gateways share the database. */
  function setup(secretKeys = [secretKey]) {
    const lookup = new TokenLookup(dataSource);
    const identify = (key: string): Promise<Caller | undefined> =>
      lookup.authenticate(key).catch(() => undefined);
    return { lookup, identify, tokens: new Tokens(dataSource, lookup, { SECRET_KEY: secretKeys }) };
  }

  async function register(): Promise<{ id: string; username: string; token: string }> {
    const user = await insertUser(dataSource);
    return { ...user, token: await setup().tokens.issueMain(user.id) };
  }

  it('identifies a key and no other text', async () => {
    const { identify } = setup();
    const { id, username, token } = await register();

    expect(await identify(token)).toMatchObject({ id, username, role: 'user', token: { kind: 'main' } });
    for (const other of [
      '',
      token.toUpperCase(),
      token.slice(1),
      `${token}0`,
      "' OR true --",
      'x'.repeat(10_000),
    ])
      expect(await identify(other)).toBeUndefined();
  });

  it('invalidates the old key when it issues a new one, also in its cache', async () => {
    const { tokens, identify } = setup();
    const { id, token } = await register();
    await identify(token);
    const rotated = await tokens.issueMain(id);

    expect(rotated).not.toBe(token);
    expect(await identify(token)).toBeUndefined();
    expect(await identify(rotated)).toMatchObject({ id });
    expect(await tokens.revealMain(id, dataSource.manager)).toBe(rotated);
  });

  it('rejects a key within a second after another gateway invalidates it', async () => {
    const { identify } = setup();
    const { id, token } = await register();
    const elsewhere = setup();
    // Mocks the monotonic clock: the cache must not use Date, because a clock that is set back would keep a revoked token valid longer.
    const now = jest.spyOn(performance, 'now');
    try {
      now.mockReturnValue(1_000_000);
      await identify(token);
      await elsewhere.tokens.issueMain(id);
      now.mockReturnValue(1_001_000);

      expect(await identify(token)).toBeUndefined();
    } finally {
      now.mockRestore();
    }
  });

  it('reads a repeated key from the cache', async () => {
    const { identify } = setup();
    const { token } = await register();
    const query = jest.spyOn(dataSource, 'query');
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000_000);
    try {
      for (let time = 0; time < 10; time += 1) await identify(token);

      expect(query).toHaveBeenCalledTimes(1);
    } finally {
      now.mockRestore();
      query.mockRestore();
    }
  });

  it('looks up a flood of keys with two queries, and gives each key its own answer', async () => {
    const { identify } = setup();
    const known = await Promise.all(Array.from({ length: 3 }, register));
    const query = jest.spyOn(dataSource, 'query');
    try {
      const unknown = Array.from({ length: 500 }, (_, index) => index.toString(16).padStart(40, '0'));
      const callers = await Promise.all([...unknown, ...known.map(({ token }) => token)].map(identify));

      expect(callers.slice(0, 500)).toEqual(unknown.map(() => undefined));
      expect(callers.slice(500).map((caller) => caller?.id)).toEqual(known.map(({ id }) => id));
      expect(query.mock.calls.length).toBeLessThanOrEqual(2);
    } finally {
      query.mockRestore();
    }
  });

  it('continues after a failed look-up', async () => {
    const { identify } = setup();
    const { id, token } = await register();
    const query = jest.spyOn(dataSource, 'query').mockRejectedValueOnce(new Error('connection lost'));
    try {
      expect(await identify(token)).toBeUndefined();
      expect(await identify(token)).toMatchObject({ id });
    } finally {
      query.mockRestore();
    }
  });

  it('rejects the key of a disabled user', async () => {
    const { lookup, identify } = setup();
    const { id, token } = await register();
    await identify(token);
    await dataSource.query('UPDATE users SET is_disabled = true WHERE id = $1', [id]);
    lookup.forget();

    expect(await identify(token)).toBeUndefined();
  });

  it('finds ended tokens despite its cache', async () => {
    const { lookup, identify } = setup();
    const [kept, rotated, disabled, deleted] = await Promise.all(Array.from({ length: 4 }, register));
    const callers = await Promise.all(
      [kept!, rotated!, disabled!, deleted!].map(({ token }) => identify(token)),
    );
    const stamps = callers.map((caller) => caller!.token.stamp);
    expect(await lookup.findEnded(stamps)).toEqual([]);
    expect(await lookup.findEnded([])).toEqual([]);

    await setup().tokens.issueMain(rotated!.id);
    await dataSource.query('UPDATE users SET is_disabled = true WHERE id = $1', [disabled!.id]);
    await dataSource.query('DELETE FROM access_tokens WHERE user_id = $1', [deleted!.id]);
    const neverIssued = `${'0'.repeat(64)}:0`;
    const ended = await lookup.findEnded([...stamps, neverIssued]);
    expect(ended.map(({ stamp }) => stamp).sort()).toEqual([...stamps.slice(1), neverIssued].sort());
  });

  it('stores no key in plain text', async () => {
    const { token, id } = await register();
    const { key } = await setup().tokens.create(id, fields);
    const rows = await dataSource.query<{ row: string }[]>(
      `SELECT row_to_json(access_tokens)::text || encode(key_hash, 'escape') AS row FROM access_tokens
       UNION ALL SELECT row_to_json(named_tokens)::text || encode(key_hash, 'escape') FROM named_tokens`,
    );
    const texts = rows.map(({ row }) => row).join('\n');

    expect(texts).toContain(id);
    for (const secret of [token, key])
      for (const form of [
        secret,
        Buffer.from(secret).toString('base64'),
        Buffer.from(secret, 'hex').toString('base64'),
      ])
        expect(texts).not.toContain(form);
  });

  it('decrypts a key after a rotation of SECRET_KEY while the old key is in the list', async () => {
    const { id, token } = await register();
    const added = 'a newer secret key of the tests, long';

    expect(await setup([added, secretKey]).tokens.revealMain(id, dataSource.manager)).toBe(token);
    await expect(setup([added]).tokens.revealMain(id, dataSource.manager)).rejects.toThrow(/SECRET_KEY/);
  });

  it('does not decrypt a key that was copied to another user', async () => {
    const [one, two] = [await register(), await register()];
    await dataSource.query(
      `UPDATE access_tokens SET key_encrypted = (SELECT key_encrypted FROM access_tokens WHERE user_id = $1)
         WHERE user_id = $2`,
      [one.id, two.id],
    );

    await expect(setup().tokens.revealMain(two.id, dataSource.manager)).rejects.toThrow(/SECRET_KEY/);
  });

  it('keeps one main token when several are issued in parallel', async () => {
    const { tokens, identify } = setup();
    const { id } = await register();
    const keys = await Promise.all(Array.from({ length: 5 }, () => tokens.issueMain(id)));
    const callers = await Promise.all(keys.map(identify));

    expect(callers.filter((caller) => caller !== undefined)).toHaveLength(1);
    expect(keys).toContain(await tokens.revealMain(id, dataSource.manager));
  });

  it('issues a new main token after the old one was revoked', async () => {
    const { tokens, identify } = setup();
    const { id, token } = await register();
    const [main] = await tokens.list(id);
    await tokens.revoke(main!.id);

    expect(await identify(token)).toBeUndefined();
    expect(await identify(await tokens.revealMain(id, dataSource.manager))).toMatchObject({ id });
  });

  it('identifies a named token with its rights', async () => {
    const { tokens, identify } = setup();
    const { id } = await register();
    const limits = { eventTypes: ['channel-raid'], channelIds: ['1', '2'] };
    const { key, token } = await tokens.create(id, { ...fields, ...limits });

    expect(await identify(key)).toMatchObject({
      id,
      role: 'user',
      token: { id: token.id, kind: 'named', scopes: ['events:read'], limits },
    });
    expect(token.keyStart).toBe(key.slice(0, 4));
  });

  it('ends live connections when the rights of a token change, and not when its name changes', async () => {
    const { tokens, lookup, identify } = setup();
    const { id } = await register();
    const { key, token } = await tokens.create(id, fields);
    const { stamp } = (await identify(key))!.token;

    expect(await tokens.change(token.id, {})).toEqual(token);
    await tokens.change(token.id, { name: 'renamed' });
    expect(await lookup.findEnded([stamp])).toEqual([]);
    await tokens.change(token.id, { scopes: ['events:live'] });
    expect(await lookup.findEnded([stamp])).toEqual([{ stamp, isChanged: true }]);
    expect((await identify(key))?.token).toMatchObject({ scopes: ['events:live'] });
  });

  it('never gives a token a write scope and limits, also not with two changes in parallel', async () => {
    const { tokens } = setup();
    const { id } = await register();
    for (let round = 0; round < 5; round += 1) {
      const { token } = await tokens.create(id, fields);
      const outcomes = await Promise.allSettled([
        tokens.change(token.id, { scopes: ['events:write'] }),
        tokens.change(token.id, { channelIds: ['1'] }),
      ]);

      const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refusals).toEqual([
        expect.objectContaining({ reason: expect.objectContaining({ code: 'invalid' }) as Error }),
      ]);
      const { rights } = await tokens.get(token.id);
      expect(rights!.scopes.includes('events:write') && rights!.channelIds !== null).toBe(false);
    }
  });

  it('changes no token that was revoked in the meantime', async () => {
    const { tokens } = setup();
    const { id } = await register();
    const { token } = await tokens.create(id, fields);
    await tokens.revoke(token.id);

    await expect(tokens.change(token.id, { name: 'renamed' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('rejects an expired token, and deletes it later', async () => {
    const { tokens, lookup, identify } = setup();
    const { id } = await register();
    const { key, token } = await tokens.create(id, {
      ...fields,
      expiresAt: new Date(Date.now() + 3_600_000),
    });
    const { stamp } = (await identify(key))!.token;
    await dataSource.manager.update(
      NamedToken,
      { id: token.id },
      { expiresAt: new Date(Date.now() - 1_000) },
    );
    lookup.forget();

    expect(await identify(key)).toBeUndefined();
    expect(await lookup.findEnded([stamp])).toEqual([{ stamp, isChanged: false }]);
    await expect(tokens.get(token.id)).rejects.toMatchObject({ code: 'not_found' });
    expect((await tokens.list(id)).map(({ kind }) => kind)).toEqual(['main']);
    await tokens.prune();
    expect(await dataSource.manager.countBy(NamedToken, { userId: id })).toBe(0);
  });

  it('raises an alarm 30 days before the token of a browser source expires, until the token is renewed', async () => {
    const { tokens, identify } = setup();
    const { id, username } = await register();
    const calls: string[][] = [];
    const alarms = {
      raise: (key: string, message: string) => void calls.push(['raise', key, message]),
      withdraw: (key: string) => void calls.push(['withdraw', key]),
    } as unknown as Alarms; // Safe cast: TokenUpkeep uses nothing else.
    const silent = { warn: () => undefined, info: () => undefined } as unknown as Logger; // Safe cast: as above.
    const upkeep = new TokenUpkeep(tokens, alarms, silent);
    const inDays = (days: number): Date => new Date(Date.now() + days * 86_400_000);
    const source = { ...fields, scopes: ['events:live' as const], channelIds: ['6120'] };
    const { key, token } = await tokens.create(id, { ...source, name: 'Raids', expiresAt: inDays(29) });
    await tokens.create(id, { ...source, expiresAt: inDays(31) });
    await tokens.create(id, { ...source, channelIds: null, expiresAt: inDays(5) });
    await tokens.create(id, { ...source, scopes: ['events:read'], expiresAt: inDays(5) });
    await tokens.create(id, source);

    await upkeep.checkExpiry();
    const day = token.expiresAt!.toISOString().slice(0, 10);
    const named = new RegExp(`“Raids” of the user ${username} expires at ${day} .*tokens/${token.id}`);
    expect(calls).toEqual([['raise', `token_expiring:${token.id}`, expect.stringMatching(named)]]);

    await tokens.change(token.id, { expiresAt: inDays(365) });
    await upkeep.checkExpiry();
    await upkeep.checkExpiry();
    expect(calls.slice(1)).toEqual([['withdraw', `token_expiring:${token.id}`]]);
    expect(await identify(key)).toMatchObject({ id });
  });

  it('gives a user at most 100 named tokens, also in parallel', async () => {
    const { tokens } = setup();
    const { id } = await register();
    const refusals: unknown[] = [];
    const createSome = async (): Promise<void> => {
      for (let count = 0; count < maxNamedTokens / 5 + 1; count += 1)
        await tokens.create(id, fields).catch((error: unknown) => refusals.push(error));
    };
    // Use every connection of the pool.
    await Promise.all(Array.from({ length: 5 }, createSome));

    expect(refusals).toEqual(Array(5).fill(expect.objectContaining({ code: 'conflict' })));
  });

  it('creates no token for a user who was disabled or deleted after the request began', async () => {
    const { tokens } = setup();
    const { id } = await register();
    await dataSource.query('UPDATE users SET is_disabled = true WHERE id = $1', [id]);

    for (const userId of [id, uuidV7()])
      await expect(tokens.create(userId, fields)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await dataSource.manager.countBy(NamedToken, { userId: id })).toBe(0);
  });

  it('ends the oldest of too many sessions', async () => {
    const { tokens, identify } = setup();
    const { id } = await register();
    const start = (): Promise<IssuedToken> => tokens.startSession(id, dataSource.manager);
    const [first, second] = [await start(), await start()];
    for (let sessions = 2; sessions < 101; sessions += 1) await start();

    expect(await identify(first.key)).toBeUndefined();
    expect(await identify(second.key)).toMatchObject({ id, token: { kind: 'session' } });
  });

  it('saves the minute in which a token was last used', async () => {
    const { tokens, identify } = setup();
    const { id, token } = await register();
    const { key } = await tokens.create(id, fields);
    await tokens.create(id, fields);
    await Promise.all([identify(token), identify(key)]);
    await tokens.saveUses();
    await tokens.saveUses();

    const [main, unused, used] = await tokens.list(id);
    expect(unused?.lastUsedAt).toBeNull();
    for (const { lastUsedAt } of [main!, used!]) {
      expect(lastUsedAt!.getTime() % 60_000).toBe(0);
      expect(Date.now() - lastUsedAt!.getTime()).toBeLessThan(120_000);
    }
  });
});
