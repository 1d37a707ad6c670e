import { createLogger, Registry } from '@stream-events/service';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGateway } from '../../test/connect-gateway.js';
import type { Caller } from '../access/caller.js';
import { TokenLookup } from '../access/token-lookup.service.js';
import { AuditLogRepository } from '../audit-log/audit-log.repository.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Tokens } from '../tokens/tokens.service.js';
import { LoginThrottle } from './login-throttle.service.js';
import { User } from './user.entity.js';
import { UsersService } from './users.service.js';

const password = 'correct horse battery staple';
const address = '192.0.2.1';

describe(UsersService.name, () => {
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

  /** Creates the services of one gateway. Several gateways share the database. */
  function setup(secretKeys = ['a secret key of the tests, long enough']) {
    const lookup = new TokenLookup(dataSource);
    const tokens = new Tokens(dataSource, lookup, { SECRET_KEY: secretKeys });
    const logger = createLogger('test', 'silent');
    const audit = new AuditLog(new AuditLogRepository(dataSource), logger, new Registry());
    const users = new UsersService(dataSource, tokens, new LoginThrottle(dataSource), audit);
    const identify = (key: string): Promise<Caller | undefined> =>
      lookup.authenticate(key).catch(() => undefined);
    const logIn = async (login: Parameters<UsersService['logIn']>[0]): Promise<string> =>
      tokens.revealMain((await users.logIn(login)).id);
    return { tokens, users, identify, logIn };
  }

  const newName = (): string => `user-${(names += 1)}`;

  it('creates one owner when five gateways start together', async () => {
    const starts = Array.from({ length: 5 }, () => setup().users.ensureOwner('Owner', password));
    const made = (await Promise.all(starts)).filter((owner) => owner !== undefined);

    expect(made).toHaveLength(1);
    expect(await dataSource.manager.countBy(User, { role: 'owner' })).toBe(1);
    expect(await setup().identify(made[0]?.token ?? '')).toMatchObject({
      username: 'Owner',
      role: 'owner',
    });
    expect(await setup().users.ensureOwner('another', password)).toBeUndefined();
    expect(await setup().logIn({ username: 'owner', password, address })).toBe(made[0]?.token);
  });

  it('registers one of many parallel requests for the same name, whatever the case', async () => {
    const { users } = setup();
    const name = newName();
    const spellings = [name, name.toUpperCase(), name, name.replace('u', 'U')];
    const outcomes = await Promise.allSettled(
      spellings.map((username) => users.register({ username, password, role: 'user' })),
    );

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'conflict' });
    }
  });

  it('returns the same token at each login, whatever the case of the name', async () => {
    const { users, logIn } = setup();
    const username = newName();
    const { token } = await users.register({ username, password, role: 'user' });

    expect(token).toMatch(/^[0-9a-f]{40}$/);
    expect(await logIn({ username, password, address })).toBe(token);
    expect(await logIn({ username: ` ${username.toUpperCase()} `, password, address })).toBe(token);
  });

  it('gives the same error to an unknown user, a wrong password, and a disabled user', async () => {
    const { users } = setup();
    const username = newName();
    const { user } = await users.register({ username, password, role: 'user' });
    const refusal = {
      code: 'invalid',
      detail: 'Unable to log in with provided credentials.',
      errors: undefined,
    };

    await expect(users.logIn({ username: newName(), password, address })).rejects.toMatchObject(refusal);
    await expect(users.logIn({ username, password: 'guess', address })).rejects.toMatchObject(refusal);
    await users.update(user.id, { isDisabled: true });
    await expect(users.logIn({ username, password, address })).rejects.toMatchObject(refusal);
  });

  it('slows down guessing for all spellings of a name', async () => {
    const { users } = setup();
    const username = newName();
    await users.register({ username, password, role: 'user' });
    const guesser = '198.51.100.7';
    const guess = { username: ` ${username.toUpperCase()}`, password: 'guess', address: guesser };
    await expect(users.logIn(guess)).rejects.toMatchObject({ code: 'invalid' });
    await dataSource.query('UPDATE login_failures SET failures = 12 WHERE address = $1', [guesser]);

    await expect(
      users.logIn({ username: `${username}\t`, password, address: guesser }),
    ).rejects.toMatchObject({ code: 'too_many_requests' });
    await expect(users.logIn({ username, password, address })).resolves.toMatchObject({ username });
  });

  it('ends other sessions and rotates the main token when a password changes', async () => {
    const { users, tokens, identify, logIn } = setup();
    const username = newName();
    const { user, token } = await users.register({ username, password, role: 'user' });
    const [kept, ended] = [await tokens.startSession(user.id), await tokens.startSession(user.id)];
    const caller = (await identify(kept.key))!;
    const current = { password, address };
    const newToken = await users.changePassword(caller, current, 'another horse battery');

    for (const key of [token, ended.key]) expect(await identify(key)).toBeUndefined();
    for (const key of [newToken, kept.key]) expect(await identify(key)).toMatchObject({ id: user.id });
    expect(await logIn({ username, password: 'another horse battery', address })).toBe(newToken);
    await expect(users.changePassword(caller, current, 'a third horse battery')).rejects.toMatchObject({
      code: 'invalid',
      errors: { current_password: [expect.any(String)] },
    });
  });

  it('rotates the main token only with the current password', async () => {
    const { users, identify } = setup();
    const { token } = await users.register({ username: newName(), password, role: 'user' });
    const caller = (await identify(token))!;

    await expect(users.rotateToken(caller, { password: 'guess', address })).rejects.toMatchObject({
      errors: { current_password: [expect.any(String)] },
    });
    expect(await identify(token)).toBeDefined();
    const rotated = await users.rotateToken(caller, { password, address });
    expect(await identify(token)).toBeUndefined();
    expect(await identify(rotated)).toMatchObject({ id: caller.id });
  });

  it('revokes all tokens of a disabled user for good', async () => {
    const { users, tokens, identify, logIn } = setup();
    const username = newName();
    const { user, token } = await users.register({ username, password, role: 'user' });
    const rights = { scopes: ['events:read' as const], eventTypes: null, channelIds: null, expiresAt: null };
    const named = await tokens.create(user.id, { name: 'bot', ...rights });
    const session = await tokens.startSession(user.id);
    await users.update(user.id, { isDisabled: true });
    await users.update(user.id, { isDisabled: false });

    for (const key of [token, named.key, session.key]) expect(await identify(key)).toBeUndefined();
    expect(await identify(await logIn({ username, password, address }))).toMatchObject({ id: user.id });
  });

  it('deletes a user with all tokens, and frees the name', async () => {
    const { users, tokens, identify } = setup();
    const username = newName();
    const { user, token } = await users.register({ username, password, role: 'user' });
    await tokens.startSession(user.id);
    await users.delete(user.id);

    expect(await identify(token)).toBeUndefined();
    await expect(users.delete(user.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(users.register({ username, password, role: 'user' })).resolves.toMatchObject({
      user: { username },
    });
  });

  it('keeps the last enabled owner, also when two owners are removed at the same time', async () => {
    const { users } = setup();
    const owners = await dataSource.manager.findBy(User, { role: 'owner', isDisabled: false });
    while (owners.length < 3) {
      const { user } = await users.register({ username: newName(), password, role: 'user' });
      owners.push(await users.update(user.id, { role: 'owner' }));
    }
    const outcomes = await Promise.allSettled([
      users.update(owners[0]!.id, { role: 'user' }),
      users.update(owners[1]!.id, { isDisabled: true }),
      users.delete(owners[2]!.id),
    ]);

    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as { code: string }).code)).toEqual(['conflict']);
    expect(await dataSource.manager.countBy(User, { role: 'owner', isDisabled: false })).toBe(1);
  });

  it('rejects the user name as a password, whatever the case', async () => {
    const { users } = setup();

    await expect(
      users.register({ username: 'long-enough-name', password: 'LONG-enough-name', role: 'user' }),
    ).rejects.toMatchObject({ code: 'invalid', errors: { password: [expect.any(String)] } });
  });

  it('stores no password in plain text, and loads the hash only on request', async () => {
    const { users } = setup();
    const { user } = await users.register({ username: newName(), password, role: 'user' });
    const rows = await dataSource.query<object[]>('SELECT * FROM users WHERE id = $1', [user.id]);

    expect(JSON.stringify(rows)).not.toContain(password);
    expect(JSON.stringify(await users.get(user.id))).not.toContain('scrypt');
    expect(JSON.stringify(await users.list())).not.toContain('scrypt');
  });
});
