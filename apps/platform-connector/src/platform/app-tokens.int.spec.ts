import { eventually } from '@stream-events/testing';
import { jest } from '@jest/globals';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import { answerWith } from '../../test/fake-platform.js';
import { AppTokens } from './app-tokens.service.js';

const issue = 'POST /oauth2/token';

describe(AppTokens.name, () => {
  let setup: ConnectorSetup;
  beforeAll(async () => {
    setup = await ConnectorSetup.start();
  });
  beforeEach(() => {
    setup.fake.answers.set('GET /api/users', ({ query }) => {
      const ids = query.getAll('id');
      return [200, { data: ids.map((id) => ({ id, login: `user_${id}` })) }];
    });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await setup.reset();
  });
  afterAll(() => setup.stop());

  const look = async ({ platform }: ConnectorInstance, id = '1'): Promise<string | undefined> =>
    (await platform.lookUpUsers([id], [], 'interactive'))[0]?.login;

  /** Moves the connector's wall clock ahead by this time. */
  const moveClock = (byMs: number): void => {
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() + byMs);
  };

  it('gets one token for several instances that need one at the same time', async () => {
    setup.fake.tokenDelayMs = 300; // long enough for the other calls to need a token too
    const instances = [await setup.createInstance(), await setup.createInstance()];
    const calls = Array.from({ length: 8 }, (_, index) => look(instances[index % 2]!, String(index + 1)));

    expect(await Promise.all(calls)).toEqual(Array.from({ length: 8 }, (_, index) => `user_${index + 1}`));
    expect(setup.fake.count(issue)).toBe(1);
  });

  it('uses the stored token after a start', async () => {
    await look(await setup.createInstance());
    await look(await setup.createInstance());

    expect(setup.fake.count(issue)).toBe(1);
  });

  it('stores the token encrypted, and no secret in clear text', async () => {
    const instance = await setup.createInstance();
    await look(instance);
    const secrets = [...setup.fake.tokens, setup.fake.clientSecret];
    setup.fake.revokeTokens();
    setup.fake.clientSecret = 'a secret that was changed since';
    await expect(look(instance)).rejects.toThrow(/PLATFORM_CLIENT_SECRET/);
    const seen = [await setup.readTables(), setup.logs, JSON.stringify(await instance.status.read())];

    expect(secrets).toHaveLength(2);
    expect(seen.every((text) => text.length > 20)).toBe(true);
    for (const secret of secrets) expect(seen.join('\n')).not.toContain(secret);
  });

  it('gets a new token when SECRET_KEY has changed', async () => {
    await look(await setup.createInstance());
    const SECRET_KEY = 'another secret key of the tests without commas';

    expect(await look(await setup.createInstance({ SECRET_KEY }))).toBe('user_1');
    expect(setup.fake.count(issue)).toBe(2);
  });

  it('renews the token in the background when a tenth of its lifetime is left', async () => {
    setup.fake.expiresInSeconds = 1_000;
    const instances = [await setup.createInstance(), await setup.createInstance()];
    for (const instance of instances) await look(instance);
    moveClock(905_000);
    for (const instance of instances) expect(await look(instance)).toBe('user_1');
    await eventually(async () => {
      for (const instance of instances) await look(instance);
      expect(setup.fake.count(issue)).toBe(2);
      expect(setup.fake.calls.at(-1)?.headers.authorization).toBe(`Bearer ${setup.fake.tokens[1]}`);
    });
    const { credentials } = await instances[0]!.status.read();

    expect(credentials.tokenExpiresAt).toBeGreaterThan(Date.now() + 900_000);
  });

  it('keeps using the old token when an early renewal fails, and does not retry immediately', async () => {
    setup.fake.expiresInSeconds = 1_000;
    const instance = await setup.createInstance();
    await look(instance);
    moveClock(905_000);
    setup.fake.fault = (call, response) => call.name === issue && answerWith(response, 500, '');
    await look(instance);
    await eventually(() => expect(setup.logs).toContain('cannot renew the access token'));
    for (let time = 0; time < 3; time += 1) expect(await look(instance)).toBe('user_1');

    expect(setup.fake.count(issue)).toBe(2);
  });

  it('gets a new token when the token has expired', async () => {
    setup.fake.expiresInSeconds = 1_000;
    const instance = await setup.createInstance();
    await look(instance);
    moveClock(1_001_000);

    expect(await look(instance)).toBe('user_1');
    expect(setup.fake.tokens).toHaveLength(2);
  });

  it('replaces a revoked token once for all calls, and the calls succeed', async () => {
    const instances = [await setup.createInstance(), await setup.createInstance()];
    for (const instance of instances) await look(instance);
    setup.fake.revokeTokens();
    const calls = Array.from({ length: 6 }, (_, index) => look(instances[index % 2]!));

    expect(await Promise.all(calls)).toEqual(Array.from({ length: 6 }, () => 'user_1'));
    expect(setup.fake.count(issue)).toBe(2);
  });

  it('fails when the platform rejects even a new token', async () => {
    const instance = await setup.createInstance();
    setup.fake.fault = (call, response) => call.name !== issue && answerWith(response, 401, '{}');

    await expect(look(instance)).rejects.toThrow(/rejected an access token that should be valid/);
    expect(setup.fake.count('GET /api/users')).toBe(2);
  });

  it.each([400, 401, 403])('reports wrong credentials (%d), and retries after a pause', async (status) => {
    const instance = await setup.createInstance();
    setup.fake.fault = (_call, response) => answerWith(response, status, '{"message":"invalid client"}');
    // Stop the clock, so that later calls get the same retry time.
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    for (let time = 0; time < 3; time += 1)
      await expect(look(instance)).rejects.toMatchObject({
        name: 'PlatformUnavailableError',
        retryAfterSeconds: 30,
      });
    const { credentials, lastError, circuit } = await instance.status.read();

    expect(setup.fake.calls).toHaveLength(1);
    expect(credentials).toEqual({ present: true, valid: false, tokenExpiresAt: null });
    expect(lastError?.message).toContain(`${status} invalid client`);
    expect(circuit).toBe('closed');

    setup.fake.fault = () => false;
    clock.mockRestore();
    moveClock(31_000);
    expect(await look(instance)).toBe('user_1');
    expect((await instance.status.read()).credentials).toMatchObject({ present: true, valid: true });
  });

  it('reports unknown validity before the first token request, and no credentials when none are configured', async () => {
    const instance = await setup.createInstance();
    expect((await instance.status.read()).credentials).toEqual({
      present: true,
      valid: null,
      tokenExpiresAt: null,
    });
    const bare = { PLATFORM: 'twitch', PLATFORM_CLIENT_ID: '', PLATFORM_CLIENT_SECRET: '' };
    const without = await setup.createInstance(bare);

    expect((await without.status.read()).credentials).toEqual({
      present: false,
      valid: null,
      tokenExpiresAt: null,
    });
    await expect(look(without)).rejects.toThrow(/Set PLATFORM_CLIENT_ID/);
    expect(setup.fake.calls).toEqual([]);
  });

  it.each([
    ['no JSON object', '[]'],
    ['no token', '{"expires_in":1}'],
    ['a token that is not valid in a header', '{"access_token":"a\\nb","expires_in":1}'],
    ['no expiry', '{"access_token":"abc"}'],
    ['an expiry beyond the range of dates', '{"access_token":"abc","expires_in":9007199254740991}'],
  ])('rejects a reply with %s', async (_what, body) => {
    const instance = await setup.createInstance();
    setup.fake.fault = (_call, response) => answerWith(response, 200, body);

    await expect(look(instance)).rejects.toThrow(/malformed reply/);
  });
});
