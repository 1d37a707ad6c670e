import { createLogger, Registry } from '@stream-events/service';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGateway } from '../../test/connect-gateway.js';
import { AuditLogRepository } from '../audit-log/audit-log.repository.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { AccessTokens } from './access-tokens.service.js';
import { LoginFailures } from './login-failures.repository.js';
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

  /** The services of one gateway. Several gateways share the database. */
  function setup(secretKeys = ['a secret key of the tests, long enough']) {
    const tokens = new AccessTokens(dataSource, { SECRET_KEY: secretKeys });
    const logger = createLogger('test', 'silent');
    const audit = new AuditLog(new AuditLogRepository(dataSource), logger, new Registry());
    return { tokens, users: new UsersService(dataSource, tokens, new LoginFailures(dataSource), audit) };
  }

  const newName = (): string => `user-${(names += 1)}`;

  it('creates one owner when five gateways start together', async () => {
    const starts = Array.from({ length: 5 }, () => setup().users.ensureOwner('Owner', password));
    const made = (await Promise.all(starts)).filter((owner) => owner !== undefined);

    expect(made).toHaveLength(1);
    expect(await dataSource.manager.countBy(User, { role: 'owner' })).toBe(1);
    expect(await setup().tokens.identify(made[0]?.token ?? '')).toMatchObject({
      username: 'Owner',
      role: 'owner',
    });
    expect(await setup().users.ensureOwner('another', password)).toBeUndefined();
    expect(await setup().users.logIn({ username: 'owner', password, address })).toBe(made[0]?.token);
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
    expect(await users.logIn({ username, password, address })).toBe(token);
    expect(await users.logIn({ username: ` ${username.toUpperCase()} `, password, address })).toBe(token);
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
    await users.setDisabled(user.id, true, 'another');
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
    await expect(users.logIn({ username, password, address })).resolves.toMatch(/^[0-9a-f]{40}$/);
  });

  it('ends other sessions when a password changes', async () => {
    const { users, tokens } = setup();
    const username = newName();
    const { user, token } = await users.register({ username, password, role: 'user' });
    const change = { current: password, next: 'another horse battery', address };
    const newToken = await users.changePassword(user.id, change);

    expect(await tokens.identify(token)).toBeUndefined();
    expect(await tokens.identify(newToken)).toMatchObject({ id: user.id });
    expect(await users.logIn({ username, password: change.next, address })).toBe(newToken);
    await expect(users.changePassword(user.id, change)).rejects.toMatchObject({
      code: 'invalid',
      errors: { current_password: [expect.any(String)] },
    });
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
