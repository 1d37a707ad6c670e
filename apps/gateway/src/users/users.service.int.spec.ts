import { jest } from '@jest/globals';
import type { ServiceError } from '@stream-events/contracts';
import { createLogger, Registry } from '@stream-events/service';
import { createTestDatabase, eventually, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGateway } from '../../test/connect-gateway.js';
import type { Caller } from '../access/caller.js';
import { TokenLookup } from '../access/token-lookup.service.js';
import { AuditLogRepository } from '../audit-log/audit-log.repository.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Tokens, type Token } from '../tokens/tokens.service.js';
import { LoginThrottle } from './login-throttle.service.js';
import { User } from './user.entity.js';
import { UsersService } from './users.service.js';

// A hash takes seconds on a busy machine, and a test computes up to eight.
jest.setTimeout(180_000);

const password = 'correct horse battery staple';
const address = '192.0.2.1';
const wrongLogin = {
  code: 'invalid',
  detail: 'Unable to log in with provided credentials.',
  errors: undefined,
};
const wrongPassword = { code: 'invalid', errors: { current_password: ['is not your current password'] } };

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

  /** Creates the services of one gateway. All gateways share the database. */
  function setup(secretKeys = ['a secret key of the tests, long enough']) {
    const lookup = new TokenLookup(dataSource);
    const config = { SECRET_KEY: secretKeys, PASSWORD_HASH_COST: 8 };
    const tokens = new Tokens(dataSource, lookup, config);
    const logger = createLogger('test', 'silent');
    const audit = new AuditLog(new AuditLogRepository(dataSource), logger, new Registry());
    const throttle = new LoginThrottle(dataSource, config);
    const users = new UsersService(dataSource, tokens, throttle, audit, config);
    const identify = (key: string): Promise<Caller | undefined> =>
      lookup.authenticate(key).catch(() => undefined);
    return { tokens, users, throttle, audit, identify };
  }

  const newName = (): string => `user-${(names += 1)}`;

  it('lets a flood of logins use only two connections to the database', async () => {
    const { users, throttle } = setup();
    let running = 0;
    let mostRunning = 0;
    const begin = throttle.begin.bind(throttle);
    throttle.begin = async (...login) => {
      mostRunning = Math.max(mostRunning, (running += 1));
      return begin(...login).finally(() => (running -= 1));
    };
    const login = { username: newName(), password, address };
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () =>
        users.startSession(login).catch((error: unknown) => (error as ServiceError).code),
      ),
    );

    expect(mostRunning).toBe(2);
    // Two logins run, four more from this address wait, and 44 are refused. The last of the six admitted logins exceeds the limit of
    // failures.
    expect(outcomes.filter((code) => code === 'too_many_requests')).toHaveLength(45);
  });

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
    expect(await setup().users.revealToken({ username: 'owner', password, address })).toBe(made[0]?.token);
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
    const { users } = setup();
    const username = newName();
    const { token } = await users.register({ username, password, role: 'user' });

    expect(token).toMatch(/^[0-9a-f]{40}$/);
    expect(await users.revealToken({ username, password, address })).toBe(token);
    expect(await users.revealToken({ username: ` ${username.toUpperCase()} `, password, address })).toBe(
      token,
    );
  });

  it('gives the same error to an unknown user, a wrong password, and a disabled user', async () => {
    const { users } = setup();
    const username = newName();
    const { user } = await users.register({ username, password, role: 'user' });
    const logIn = (login: { username: string; password: string }): Promise<string> =>
      users.revealToken({ ...login, address });

    await expect(logIn({ username: newName(), password })).rejects.toMatchObject(wrongLogin);
    await expect(logIn({ username, password: 'guess' })).rejects.toMatchObject(wrongLogin);
    await users.update(user.id, { isDisabled: true });
    await expect(logIn({ username, password })).rejects.toMatchObject(wrongLogin);
  });

  it('ends other sessions and rotates the main token when a password changes', async () => {
    const { users, identify } = setup();
    const username = newName();
    const { user, token } = await users.register({ username, password, role: 'user' });
    const login = { username, password, address };
    const [kept, ended] = [await users.startSession(login), await users.startSession(login)];
    const caller = (await identify(kept.key))!;
    const current = { password, address };
    const newToken = await users.changePassword(caller, current, 'another horse battery');

    for (const key of [token, ended.key]) expect(await identify(key)).toBeUndefined();
    for (const key of [newToken, kept.key]) expect(await identify(key)).toMatchObject({ id: user.id });
    expect(await users.revealToken({ username, password: 'another horse battery', address })).toBe(newToken);
    await expect(users.changePassword(caller, current, 'a third horse battery')).rejects.toMatchObject(
      wrongPassword,
    );
  });

  it('rotates the main token only with the current password', async () => {
    const { users, identify } = setup();
    const { token } = await users.register({ username: newName(), password, role: 'user' });
    const caller = (await identify(token))!;

    await expect(users.rotateToken(caller, { password: 'guess', address })).rejects.toMatchObject(
      wrongPassword,
    );
    expect(await identify(token)).toBeDefined();
    const rotated = await users.rotateToken(caller, { password, address });
    expect(await identify(token)).toBeUndefined();
    expect(await identify(rotated)).toMatchObject({ id: caller.id });
  });

  describe.each<[what: string, change: (users: UsersService, id: string) => Promise<unknown>]>([
    ['the password changes', (users, id) => users.setPassword(id, 'another horse battery')],
    ['the user is disabled', (users, id) => users.update(id, { isDisabled: true })],
    ['the user is deleted', (users, id) => users.delete(id)],
  ])('when %s after the password was checked', (_what, change) => {
    /** Runs `change` right after the next password check. Returns the tokens that the user has after the change. */
    function changeDuringNextLogin({ users, throttle, tokens }: ReturnType<typeof setup>, id: string) {
      const left: Token[] = [];
      const succeed = throttle.succeed.bind(throttle);
      jest.spyOn(throttle, 'succeed').mockImplementationOnce(async (attempt) => {
        await succeed(attempt);
        await change(users, id);
        left.push(...(await tokens.list(id)));
      });
      return left;
    }

    it.each(['revealToken', 'startSession'] as const)('refuses %s like a wrong login', async (method) => {
      const gateway = setup();
      const { users, tokens, audit } = gateway;
      const username = newName();
      const { user } = await users.register({ username, password, role: 'user' });
      const record = jest.spyOn(audit, 'record');
      const left = changeDuringNextLogin(gateway, user.id);

      await expect(users[method]({ username, password, address })).rejects.toMatchObject(wrongLogin);
      expect(await tokens.list(user.id)).toEqual(left);
      const by = { id: user.id, username, address };
      expect(record.mock.calls).toEqual([[{ action: 'user.login_failed', by, objectId: user.id }]]);
    });

    it.each<[method: string, call: (users: UsersService, caller: Caller) => Promise<string>]>([
      ['rotateToken', (users, caller) => users.rotateToken(caller, { password, address })],
      [
        'changePassword',
        (users, caller) => users.changePassword(caller, { password, address }, 'a third horse battery'),
      ],
    ])('refuses %s like a wrong password', async (_method, call) => {
      const gateway = setup();
      const { users, tokens, identify } = gateway;
      const { user, token } = await users.register({ username: newName(), password, role: 'user' });
      const caller = (await identify(token))!;
      const left = changeDuringNextLogin(gateway, user.id);

      await expect(call(users, caller)).rejects.toMatchObject(wrongPassword);
      expect(await tokens.list(user.id)).toEqual(left);
    });
  });

  it('starts no session when a change of the password commits while the login waits for it', async () => {
    const { users, tokens } = setup();
    const username = newName();
    const { user } = await users.register({ username, password, role: 'user' });
    let login: Promise<unknown> | undefined;
    await dataSource.transaction(async (manager) => {
      await manager.update(User, { id: user.id }, { passwordHash: 'another hash' });
      login = users.startSession({ username, password, address }).catch((error: unknown) => error);
      await eventually(async () => {
        const waiting = await manager.query<unknown[]>(
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        expect(waiting).toHaveLength(1);
      });
    });

    expect(await login).toMatchObject(wrongLogin);
    expect((await tokens.list(user.id)).map(({ kind }) => kind)).toEqual(['main']);
  });

  it('rotates no token of another user who got the name of the caller', async () => {
    const { users, identify } = setup();
    const username = newName();
    const { user, token } = await users.register({ username, password, role: 'user' });
    const caller = (await identify(token))!;
    await users.delete(user.id);
    const { token: kept } = await users.register({ username, password, role: 'user' });

    await expect(users.rotateToken(caller, { password, address })).rejects.toMatchObject(wrongPassword);
    expect(await users.revealToken({ username, password, address })).toBe(kept);
  });

  it('revokes all tokens of a disabled user permanently', async () => {
    const { users, tokens, identify } = setup();
    const username = newName();
    const { user, token } = await users.register({ username, password, role: 'user' });
    const rights = { scopes: ['events:read' as const], eventTypes: null, channelIds: null, expiresAt: null };
    const named = await tokens.create(user.id, { name: 'bot', ...rights });
    const session = await users.startSession({ username, password, address });
    await users.update(user.id, { isDisabled: true });
    await users.update(user.id, { isDisabled: false });

    for (const key of [token, named.key, session.key]) expect(await identify(key)).toBeUndefined();
    expect(await identify(await users.revealToken({ username, password, address }))).toMatchObject({
      id: user.id,
    });
  });

  it('deletes a user with all tokens, and frees the name', async () => {
    const { users, identify } = setup();
    const username = newName();
    const { user, token } = await users.register({ username, password, role: 'user' });
    await users.startSession({ username, password, address });
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
      owners.push((await users.update(user.id, { role: 'owner' })).after);
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

  it('stores no password in plain text, and loads the hash only on request', async () => {
    const { users } = setup();
    const { user } = await users.register({ username: newName(), password, role: 'user' });
    const rows = await dataSource.query<object[]>('SELECT * FROM users WHERE id = $1', [user.id]);

    expect(JSON.stringify(rows)).not.toContain(password);
    expect(JSON.stringify(await users.get(user.id))).not.toContain('scrypt');
    expect(JSON.stringify(await users.list())).not.toContain('scrypt');
  });
});
