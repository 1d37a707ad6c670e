import { jest } from '@jest/globals';
import { createHmac, randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { natsUsers, reportAlarms } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { eventually, type TestService } from '@stream-events/testing';
import { eventBody, eventsPath, uniqueType, type Answer } from './api.js';
import { LiveSocket } from './live-clients.js';
import { RecordingProxy } from './recording-proxy.js';
import { SecretSearch, type FoundSecret } from './secret-search.js';
import { SimulatedPlatform } from './simulated-platform.js';
import { application, controlSecret, owner, secretKey, webhookSecrets } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const metricsToken = randomBytes(16).toString('hex');
const alertUrlSecret = randomBytes(16).toString('hex');
const alertWebhook = {
  // Nothing listens on port 9, so every post fails.
  ALERT_WEBHOOK_URL: `http://127.0.0.1:9/${alertUrlSecret}`,
  ALERT_WEBHOOK_SECRET: randomBytes(32).toString('base64'),
};
const patiently = { timeoutMs: 90_000 };
const unknownId = '01999999-9999-7999-8999-999999999999';

// The tests read every database row and every NATS message.
jest.setTimeout(startLimitMs);

/** The password looks different in each encoding. */
function makePassword(): string {
  return `pass wörd/+"${randomBytes(9).toString('base64url')}`;
}

interface Operations {
  paths: Record<string, Record<string, object>>;
}

/** Runs the whole system with the most verbose logs, and uses each secret in every way that the API offers. */
describe('secrets', () => {
  let stack: Stack;
  let platform: RecordingProxy;
  const search = new SecretSearch();
  /** Control: the search must find this text, or it did not read the tables and streams. */
  const planted = randomBytes(20).toString('hex');
  const answers: { request: string; text: string }[] = [];

  beforeAll(async () => {
    stack = await startStack({
      gateways: 1,
      events: 1,
      simulator: true,
      environment: { LOG_LEVEL: 'trace', METRICS_TOKEN: metricsToken },
      killable: ['gateway', 'events', 'platform-connector', 'streamer-monitor', 'platform-simulator'],
    });
    platform = await RecordingProxy.start(stack.simulator?.url ?? '');
    const addresses = {
      PLATFORM_API_URL: `${platform.url}/helix`,
      PLATFORM_AUTH_URL: `${platform.url}/oauth2`,
    };
    await stack.startConnector({ ...addresses, ...alertWebhook });
    await stack.startMonitor();
    addConfiguredSecrets();
    await useEverything();
  }, 5 * startLimitMs); // starts six processes and sends hundreds of requests in sequence

  afterAll(async () => {
    await stack.stop();
    await platform.stop();
  });

  function addConfiguredSecrets(): void {
    search.add('password of the first owner', owner.password);
    search.add('main token of the first owner', stack.ownerToken);
    search.add('SECRET_KEY', secretKey);
    search.add('METRICS_TOKEN', metricsToken);
    search.add('SIMULATOR_CONTROL_SECRET', controlSecret);
    search.add('PLATFORM_CLIENT_SECRET', application.PLATFORM_CLIENT_SECRET);
    search.add('ALERT_WEBHOOK_URL', alertUrlSecret);
    search.add('ALERT_WEBHOOK_SECRET', alertWebhook.ALERT_WEBHOOK_SECRET);
    for (const secret of webhookSecrets) search.add('PLATFORM_WEBHOOK_SECRET', secret);
    for (const { name, ...user } of Object.values(natsUsers))
      if (!('passwordOf' in user))
        search.add(
          `password of the NATS user ${name}`,
          decodeURIComponent(new URL(stack.nats.urlFor(name)).password),
        );
    const databasePassword = decodeURIComponent(new URL(stack.databaseUrl).password);
    // The password is empty when the server trusts its connections.
    if (databasePassword.length >= 8) search.add('password of the database', databasePassword);
  }

  /** Sends a request and records the response for the search. Use `stack.request` when the response shows a new secret. */
  async function request<Body>(
    method: string,
    path: string,
    options: Parameters<Stack['request']>[2] = {},
  ): Promise<Answer<Body>> {
    const answer = await stack.request<Body>(method, path, options);
    answers.push({ request: `${method} ${path.split('?')[0]}: ${answer.status}`, text: answer.text });
    return answer;
  }

  async function useEverything(): Promise<void> {
    const member = await useMember();
    await usePlatform();
    await raiseAlarm();
    await sendWrongSecrets(member);
    await useEveryRoute(member.token);
    await stack.waitUntilPublished();
  }

  /** Uses registration, login, a session, a named token, rotation, and a new password. Does not record responses with a new secret. */
  async function useMember(): Promise<{ username: string; token: string }> {
    const username = uniqueType('member');
    const passwords = [makePassword(), makePassword()] as const;
    for (const password of passwords) search.add('password of a member', password);
    const [password, new_password] = passwords;
    const registered = await stack.request<{ auth_token: string }>('POST', '/api/v1/users', {
      body: { username, password },
    });
    expect(registered.status).toBe(201);
    let token = registered.json.auth_token;
    search.add('main token from a registration', token);
    const form = new URLSearchParams({ username, password }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(
      (await stack.request('POST', '/api-token-auth', { token: null, body: form, headers })).status,
    ).toBe(200);
    const session = await stack.request<{ key: string }>('POST', '/api/v1/sessions', {
      token: null,
      body: { username, password },
    });
    search.add('session', session.json.key);
    expect((await request('GET', eventsPath, { token: session.json.key })).status).toBe(200);
    const body = { name: 'Alerts', scopes: ['events:read', 'events:live', 'events:write', 'platform:read'] };
    const named = await stack.request<{ key: string }>('POST', '/api/v1/tokens', { token, body });
    search.add('named token', named.json.key);
    expect((await request('GET', eventsPath, { token: named.json.key })).status).toBe(200);
    const rotated = await stack.request<{ token: string }>('POST', '/api/v1/users/me/token', {
      token,
      body: { current_password: password },
    });
    token = rotated.json.token;
    search.add('main token from a rotation', token);
    const changed = await stack.request<{ token?: string }>('POST', '/api/v1/users/me/password', {
      token,
      body: { current_password: password, new_password },
    });
    expect(changed.status).toBe(200);
    token = await stack.logIn(username, new_password);
    search.add('main token after a new password', token);
    await useLive(token, named.json.key);
    return { username, token };
  }

  async function useLive(token: string, named: string): Promise<void> {
    const first = await LiveSocket.ready(stack.url, { token });
    const second = await LiveSocket.open(stack.url, undefined, {
      headers: { authorization: `Token ${named}` },
    });
    const inUrl = await LiveSocket.open(stack.url, undefined, {
      path: `/ws/platform-events/?token=${token}`,
    });
    await eventually(() => expect(inUrl.closed?.code).toBe(4401), patiently);
    answers.push({ request: 'WebSocket', text: [...first.texts, inUrl.closed?.reason].join('\n') });
    for (const live of [first, second]) await live.close();
  }

  /** Uses a platform message, a subscription, and the connector's own token. */
  async function usePlatform(): Promise<void> {
    const simulated = new SimulatedPlatform(stack);
    const { id, login } = await simulated.addUser();
    expect((await request('POST', '/api/v1/streamers', { body: { platform_username: login } })).status).toBe(
      201,
    );
    await eventually(async () => {
      const { json } = await stack.request<{ results: { type: string }[] }>(
        'GET',
        '/api/v1/platform/subscriptions?status=enabled',
      );
      expect(json.results.map(({ type }) => type)).toContain('stream.online');
    }, patiently);
    await simulated.goLive(id);
    await eventually(async () => expect(await stack.count(`events.events`)).toBeGreaterThan(0), patiently);
    const connection = await useConnections(simulated);
    await simulated.revokeTokens();
    const call = await request('GET', `/api/v1/platform/call/users?connection=${connection}`);
    expect(call.status).toBe(200);
    await request('POST', '/api/v1/streamers', {
      body: { platform_username: (await simulated.addUser()).login },
    });
    const tokens = [...platform.authorizations].map((header) => header.replace(/^\w+ /, ''));
    expect(tokens.length).toBeGreaterThan(1);
    for (const token of tokens) search.add('access token', token);
    for (const { field, secret } of platform.issued) search.add(`${field} from the platform`, secret);
    expect(new Set(platform.issued.map(({ field }) => field)).size).toBe(3);
  }

  /** Raises an alarm that the connector cannot post. Waits for the log line about the failure. */
  async function raiseAlarm(): Promise<void> {
    await stack.client.request(reportAlarms, {
      raised: [{ key: 'clock_off', message: 'A test raised this.' }],
      cleared: [],
    });
    await eventually(
      () => expect(stack.connectors[0]?.output).toContain('cannot post an alarm to ALERT_WEBHOOK_URL'),
      patiently,
    );
    expect((await request('GET', '/api/v1/platform/status')).text).toContain('A test raised this.');
  }

  /** Gives consent twice: with a device code and on a platform page. Returns the id of the first connection. */
  async function useConnections(simulated: SimulatedPlatform): Promise<string> {
    const path = '/api/v1/platform/connections';
    await simulated.setLimits({ device_interval_seconds: 1 });
    const device = await request<{ id: string; user_code: string }>('POST', path);
    const { login } = await simulated.addUser();
    await simulated.decide(device.json.user_code, { decision: 'allow', login });

    const body = { flow: 'authorization_code' };
    const { json: page } = await stack.request<{ verification_uri: string }>('POST', path, { body });
    const state = new URL(page.verification_uri).searchParams.get('state') ?? '';
    search.add('state of a consent', state.slice(unknownId.length + 1));
    const back = await simulated.authorize(page.verification_uri, (await simulated.addUser()).login);
    search.add('authorization code', back.searchParams.get('code') ?? '');
    answers.push({ request: 'callback', text: await (await fetch(back)).text() });

    await eventually(async () => {
      const { json } = await request<{ state: string }[]>('GET', path);
      expect(json.map((connection) => connection.state)).toEqual(['connected', 'connected']);
    }, patiently);
    return device.json.id;
  }

  /** Sends secrets to the wrong places, as people do: mistyped passwords, and tokens in URLs, headers, and fields. */
  async function sendWrongSecrets({ username, token }: { username: string; token: string }): Promise<void> {
    const wrong = makePassword();
    search.add('mistyped password', wrong);
    const unknownToken = randomBytes(20).toString('hex');
    search.add('token of another system', unknownToken);
    const basic = Buffer.from(`${username}:${wrong}`).toString('base64');
    search.add('basic credentials', basic);
    const signature = createHmac('sha256', webhookSecrets[0]).update('message').digest('hex');
    search.add('signature', signature);
    const asToken = { token: null, body: { username, password: wrong } };
    for (const path of ['/api-token-auth', '/api/v1/sessions']) await request('POST', path, asToken);
    for (const path of ['/api/v1/users/me/token', '/api/v1/users/me/password'])
      await request('POST', path, { token, body: { current_password: wrong, new_password: wrong } });
    await request('POST', '/api/v1/users', { body: { username, password: wrong } });
    for (const body of [
      `{"username":"${username}","password":"${wrong}`,
      wrong,
      `{"password":${JSON.stringify(wrong)},}`,
    ])
      await request('POST', '/api-token-auth', { token: null, body });
    for (const authorization of [
      `Token ${unknownToken}`,
      `Bearer ${token}`,
      `Basic ${basic}`,
      `Token ${token} ${token}`,
      token,
    ])
      await request('GET', eventsPath, { token: null, headers: { authorization } });
    for (const path of ['/api/v1/users/me', eventsPath, '/nothing', `${eventsPath}/stream`, '/metrics'])
      await request('GET', `${path}?token=${token}&password=${encodeURIComponent(wrong)}`, { token: null });
    await request('POST', `${eventsPath}/webhook`, {
      token: null,
      body: '{}',
      headers: { 'Twitch-Eventsub-Message-Signature': `sha256=${signature}` },
    });
    const { adminUrl } = stack.gateway;
    for (const authorization of [`Bearer ${metricsToken}`, `Bearer ${wrong.replace('ö', 'o')}`])
      answers.push({
        request: 'metrics',
        text: await (await fetch(`${adminUrl}/metrics`, { headers: { authorization } })).text(),
      });
  }

  /** Calls the operations of the API as owner, as member, and without a token. Bodies contain secrets, except for test events. */
  async function useEveryRoute(member: string): Promise<void> {
    await request('POST', eventsPath, { body: eventBody({ event_data: { planted } }) });
    const { json } = await stack.request<Operations>('GET', '/api/openapi.json');
    const operations = Object.entries(json.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
    );
    expect(operations.length).toBeGreaterThan(50);
    const body = { password: owner.password, token: stack.ownerToken, secret: secretKey, key: member };
    for (const { method, path } of operations) {
      // Skip event streams, which never end. Also skip operations that end the session or replace the owner's token.
      if (path.endsWith('/stream') || path.includes('/users/me/') || path.endsWith('/sessions/current'))
        continue;
      const url = path.replace(/\{(\w+)\}/g, (_, name: string) =>
        name === 'event_type' ? 'raid' : unknownId,
      );
      for (const token of [stack.ownerToken, member, null])
        await request(method, url, {
          token,
          ...(!['GET', 'DELETE'].includes(method) && { body: path.endsWith('/test') ? {} : body }),
        });
    }
  }

  it('have many kinds here', () => {
    expect(search.names.length).toBeGreaterThan(20);
  });

  it('are found by the search in every form', () => {
    const self = new SecretSearch();
    const secret = 'a fine söcret/+"';
    self.add('own', secret);
    const bytes = Buffer.from(secret);
    const texts = [
      `x${secret}x`,
      JSON.stringify({ a: secret }),
      `?a=${encodeURIComponent(secret)}&`,
      new URLSearchParams({ a: secret }).toString(),
      `\\x${bytes.toString('hex')}`,
      bytes.toString('hex').toUpperCase(),
      ...[0, 1, 2].map((offset) =>
        Buffer.concat([Buffer.from('abc').subarray(0, offset), bytes, bytes]).toString('base64'),
      ),
    ];
    for (const text of texts) expect(self.find(text, 'here')).not.toEqual([]);
    expect(self.find('a fine secret', 'here')).toEqual([]);
  });

  it('are in no table of the database', async () => {
    const marks = new SecretSearch();
    marks.add('planted', planted);
    const found: FoundSecret[] = [];
    const foundMarks: FoundSecret[] = [];
    const tables = await stack.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of tables) {
      const rows = await stack.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      const text = rows.map(({ row }) => row).join('\n');
      // PostgreSQL doubles the quotes when it prints a row.
      found.push(...search.find(`${text}\n${text.replaceAll('""', '"')}`, name));
      foundMarks.push(...marks.find(text, name));
    }
    expect(foundMarks).not.toEqual([]);
    expect(found).toEqual([]);
  });

  it('are in no stream of NATS', async () => {
    const marks = new SecretSearch();
    marks.add('planted', planted);
    const messages = await readStreams();
    expect(marks.find(messages.join('\n'), 'streams')).not.toEqual([]);
    expect(search.find(messages.join('\n'), 'streams')).toEqual([]);
  });

  /** Reads the streams of both accounts: configurations and all messages with subject and headers. */
  async function readStreams(): Promise<string[]> {
    const texts: string[] = [];
    for (const account of [undefined, 'EVENTS'] as const) {
      const options = { urls: [stack.nats.urlFor('events')], name: 'search' };
      const connection = await connectNats(account ? { ...options, account } : options);
      texts.push(...(await readAccount(connection).finally(() => connection.close())));
    }
    return texts;
  }

  async function readAccount(connection: NatsConnection): Promise<string[]> {
    const texts: string[] = [];
    const { streams, consumers } = await jetstreamManager(connection, { checkAPI: false });
    for await (const { config, state } of streams.list()) {
      texts.push(JSON.stringify(config));
      for await (const consumer of consumers.list(config.name)) texts.push(JSON.stringify(consumer));
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += 1) {
        const message = await streams.getMessage(config.name, { seq });
        if (message)
          texts.push(`${message.subject} ${JSON.stringify([...(message.header ?? [])])} ${message.string()}`);
      }
    }
    return texts;
  }

  it('are in no log, at the most verbose level', () => {
    const services: TestService[] = [
      ...stack.gateways,
      ...stack.events,
      ...stack.connectors,
      ...stack.monitors,
      ...(stack.simulator ? [stack.simulator] : []),
    ];
    expect(services).toHaveLength(5);
    for (const { app, output } of services)
      expect({ app, hasLines: output.includes('"level"') }).toEqual({ app, hasLines: true });
    expect(stack.gateway.output).toMatch(/"level":[12]0/);
    expect(services.flatMap(({ app, output }) => search.find(output.replaceAll('\\"', '"'), app))).toEqual(
      [],
    );
  });

  it('are in no response but those that issue them', () => {
    expect(answers.length).toBeGreaterThan(150);
    expect(answers.flatMap(({ request: where, text }) => search.find(text, where))).toEqual([]);
  });
});
