import { randomInt } from 'node:crypto';
import { SecretBox } from '@stream-events/service';
import { eventually, type TestService } from '@stream-events/testing';
import { startLimitMs, startStack, type Stack } from './stack.js';

const old = 'the old secret key of the rotation test';
const fresh = 'the new secret key of the rotation test';

/** The three services that use SECRET_KEY. */
type Instances = Record<'gateway' | 'events' | 'connector', TestService>;

/** Follows the procedure "Rotate SECRET_KEY" in docs/security.md. */
describe('the rotation of SECRET_KEY', () => {
  let stack: Stack;

  beforeAll(async () => {
    const environment = { SECRET_KEY: old };
    stack = await startStack({ platform: true, gateways: 1, events: 1, environment });
  }, startLimitMs);
  afterAll(() => stack.stop());

  const start = async (SECRET_KEY: string): Promise<Instances> => ({
    events: await stack.startEvents({ SECRET_KEY }),
    gateway: await stack.startGateway({ SECRET_KEY }),
    connector: await stack.startConnector({ SECRET_KEY }),
  });

  const stop = async (...services: TestService[]): Promise<void> => {
    await Promise.all(services.map((service) => service.stop()));
    stack.balanceRequests();
  };

  /** Logs in at this gateway, which has to decrypt the main token. */
  const logIn = async (
    user: { username: string; password: string },
    gateway: TestService,
  ): Promise<string> => {
    const { username, password } = user;
    const answer = await stack.request<{ token: string }>('POST', '/api-token-auth/', {
      ...{ token: null, gateway: gateway.url },
      body: { username, password },
    });
    expect(answer).toMatchObject({ status: 200 });
    return answer.json.token;
  };

  const register = async (gateway: TestService) => {
    const user = { username: `user-${randomInt(1e9)}`, password: 'a password of a user' };
    const { json } = await stack.request<{ auth_token: string }>('POST', '/users', {
      ...{ gateway: gateway.url, token: stack.ownerToken },
      body: user,
    });
    return { ...user, token: json.auth_token };
  };

  const readHash = async (gateway: TestService): Promise<string> => {
    const { json } = await stack.request<{ user_hash: string }>('POST', '/api/v1/erasures', {
      ...{ gateway: gateway.url, token: stack.ownerToken },
      body: { platform_user_id: '4711', dry_run: true },
    });
    return json.user_hash;
  };

  const olderValues = async ({ gateway, events, connector }: Instances): Promise<number> => {
    const older = { key: 'older' };
    const counts = await Promise.all([
      gateway.metric('encrypted_values', older),
      events.metric('encrypted_values', older),
      connector.metric('encrypted_values', older),
    ]);
    return counts.reduce((sum, count) => sum + count, 0);
  };

  const countUnder = async (key: string): Promise<object> => {
    const box = new SecretBox([key]);
    const rows = await stack.query<{ id: string; value: string }>(
      'SELECT user_id AS id, key_encrypted AS value FROM gateway.access_tokens',
    );
    return {
      tokens: rows.length,
      tokensUnderKey: rows.filter(({ id, value }) => box.open(value, id)).length,
    };
  };

  it('fails no request while instances of neighboring steps run side by side', async () => {
    const [gateway, events, connectors] = [stack.gateway, stack.eventsService, [...stack.connectors]];
    const alice = await register(gateway);
    const hash = await readHash(gateway);

    // Step 1: give every instance the new key.
    const one = await start(`${old},${fresh}`);
    const bob = await register(one.gateway);
    for (const at of [gateway, one.gateway]) {
      expect(await logIn(alice, at)).toBe(alice.token);
      expect(await logIn(bob, at)).toBe(bob.token);
    }
    await stop(gateway, events, ...connectors);
    expect(await readHash(one.gateway)).toBe(hash);

    // The old key is still needed. A start without it must fail with an error that names the table.
    const lacks = (table: string): RegExp =>
      new RegExp(
        `SECRET_KEY lacks a key that is still needed: no key in it decrypts \\d+ of the \\d+ values in ${table}`,
      );
    await expect(stack.startGateway({ SECRET_KEY: fresh })).rejects.toThrow(lacks('gateway.access_tokens'));
    await expect(stack.startEvents({ SECRET_KEY: fresh })).rejects.toThrow(lacks('events.user_hash_keys'));

    // Step 2: put the new key first. New values use it, and the services re-encrypt the old values.
    const two = await start(`${fresh},${old}`);
    const carol = await register(two.gateway);
    const dave = await register(one.gateway);
    for (const at of [one.gateway, two.gateway])
      for (const user of [alice, bob, carol, dave]) expect(await logIn(user, at)).toBe(user.token);
    expect(await readHash(two.gateway)).toBe(hash);
    await stop(...Object.values(one));
    // Once a minute, each instance re-encrypts values that other instances wrote with the old key.
    await eventually(
      async () => {
        expect(await countUnder(fresh)).toEqual({ tokens: 5, tokensUnderKey: 5 });
        expect(await olderValues(two)).toBe(0);
      },
      { timeoutMs: 240_000 },
    );

    // Step 3: remove the old key.
    const three = await start(fresh);
    for (const at of [two.gateway, three.gateway])
      for (const user of [alice, bob, carol, dave]) expect(await logIn(user, at)).toBe(user.token);
    await stop(...Object.values(two));
    expect(await readHash(three.gateway)).toBe(hash);
    for (const { output } of [gateway, events, ...connectors, ...Object.values(one), ...Object.values(two)])
      expect(output).not.toMatch(/"level":"(error|fatal)"|"level":[56]0/);
  }, 720_000); // starts a dozen services and computes dozens of password hashes
});
