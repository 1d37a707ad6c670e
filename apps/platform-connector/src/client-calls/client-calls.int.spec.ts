import type { ServerResponse } from 'node:http';
import {
  maxCallReplyBytes,
  ServiceError,
  type CallPlatformReply,
  type CallPlatformRequest,
} from '@stream-events/contracts';
import { eventually, freePort } from '@stream-events/testing';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import { FakeConsent } from '../../test/fake-consent.js';
import { answerWith, type ReceivedCall } from '../../test/fake-platform.js';
import { ClientCalls } from './client-calls.service.js';

const issue = 'POST /oauth2/token';
const send = 'POST /api/chat/messages';

describe(ClientCalls.name, () => {
  let setup: ConnectorSetup;
  let consent: FakeConsent;
  let instance: ConnectorInstance;
  /** Replies to API calls that carry a valid token. */
  let reply: (call: ReceivedCall, response: ServerResponse) => void;

  beforeAll(async () => {
    setup = await ConnectorSetup.start();
  });
  beforeEach(async () => {
    consent = new FakeConsent(setup.fake);
    consent.user = { user_id: '77', login: 'mira', scopes: ['user:write:chat', 'channel:manage:polls'] };
    const { fault } = setup.fake;
    setup.fake.fault = (call, response) => {
      const token = /Bearer (.+)/.exec(call.headers.authorization ?? '')?.[1] ?? '';
      if (
        call.name === 'GET /oauth2/validate' &&
        setup.fake.tokens.some((each) => call.headers.authorization?.endsWith(each))
      )
        return answerWith(response, 200, '{"client_id":"any","expires_in":1}');
      if (fault(call, response)) return true;
      if (call.name === issue || (!consent.isValid(token) && !setup.fake.tokens.includes(token)))
        return false;
      reply(call, response);
      return true;
    };
    reply = (_call, response) => answerWith(response, 200, '{"data":[]}');
    instance = await setup.createInstance();
  });
  afterEach(() => setup.reset());
  afterAll(() => setup.stop());

  const call = (fields: Partial<CallPlatformRequest> = {}): Promise<CallPlatformReply> =>
    instance.calls.call({
      method: 'GET',
      path: 'users',
      query: '',
      body: null,
      connectionId: null,
      ...fields,
    });

  const chat = (): Promise<CallPlatformReply> =>
    call({ method: 'POST', path: 'chat/messages', body: '{"sender_id":"77", "message":"hi"}' });

  const connect = async (): Promise<string> => {
    consent.decision = 'granted';
    await instance.upkeep.start();
    const { id } = await instance.connections.start();
    await eventually(async () => {
      // Make the connection due at once instead of waiting for the platform's polling interval.
      await setup.dataSource.query('UPDATE connections SET due_at = now() WHERE due_at > now()');
      expect((await instance.connections.get(id)).state).toBe('connected');
    });
    return id;
  };

  const textOf = ({ body }: CallPlatformReply): string => Buffer.from(body, 'base64').toString();
  const lastCall = (): ReceivedCall => setup.fake.calls.findLast(({ name }) => name.includes('/api/'))!;

  it('passes on the query and the reply, with the application’s token', async () => {
    reply = (_call, response) => {
      response.setHeader('set-cookie', 'a=1');
      response.setHeader('ratelimit-limit', '800');
      response.setHeader('ratelimit-remaining', '799');
      answerWith(response, 200, '{"data": [1.0, "ä"]}');
    };
    const answer = await call({ query: 'id=1&id=2&login=a%20b' });

    expect(lastCall().query.getAll('id')).toEqual(['1', '2']);
    expect(lastCall().headers.authorization).toBe(`Bearer ${setup.fake.tokens[0]}`);
    expect({ ...answer, body: textOf(answer) }).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json', 'ratelimit-limit': '800', 'ratelimit-remaining': '799' },
      body: '{"data": [1.0, "ä"]}',
    });
  });

  it('passes on the body, with the token of the user who acts', async () => {
    await connect();
    await chat();

    expect(lastCall()).toMatchObject({ name: send, body: '{"sender_id":"77", "message":"hi"}' });
    expect(lastCall().headers['content-type']).toBe('application/json');
    expect(consent.isValid(lastCall().headers.authorization?.replace('Bearer ', '') ?? '')).toBe(true);
  });

  it.each([204, 302, 400, 404, 422, 500, 503])(
    'passes on the status %d, and sends no call again',
    async (status) => {
      reply = (_call, response) => {
        response.setHeader('location', 'http://127.0.0.1:9/elsewhere');
        if (status === 204) response.writeHead(204).end();
        else answerWith(response, status, '{"message":"no"}');
      };
      const answer = await call();

      expect(answer.status).toBe(status);
      expect(answer.headers).toEqual(status === 204 ? {} : { 'content-type': 'application/json' });
      expect(setup.fake.count('GET /api/users')).toBe(1);
    },
  );

  it('does not let a page of a proxy run as a page of the service', async () => {
    reply = (_call, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<script>');

    expect((await call()).headers).toEqual({ 'content-type': 'application/octet-stream' });
  });

  describe('after a 401', () => {
    it('refreshes an expired token once for all calls, and repeats each call once', async () => {
      await connect();
      consent.expireAccessTokens();
      const answers = await Promise.all(Array.from({ length: 50 }, chat));

      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
      expect(consent.refreshes).toBe(1);
      expect(setup.fake.count(send)).toBeGreaterThan(50);
    });

    it('passes the 401 on, and keeps the token, when the token is valid', async () => {
      await connect();
      reply = (_call, response) => answerWith(response, 401, '{"message":"Missing scope: x"}');
      const [byUser, byApp] = [await chat(), await call()];

      expect([byUser.status, textOf(byUser), byApp.status]).toEqual([
        401,
        '{"message":"Missing scope: x"}',
        401,
      ]);
      expect([setup.fake.count(send), consent.refreshes, setup.fake.tokens.length]).toEqual([1, 0, 1]);
    });

    it('passes on a second 401', async () => {
      await connect();
      consent.expireAccessTokens();
      reply = (_call, response) => answerWith(response, 401, '{}');

      expect((await chat()).status).toBe(401);
      expect([setup.fake.count(send), consent.refreshes]).toEqual([2, 1]);
    });

    it('asks for a new consent when the token cannot be refreshed', async () => {
      const id = await connect();
      consent.disconnect();

      await expect(chat()).rejects.toMatchObject({ code: 'conflict' });
      expect((await instance.connections.get(id)).state).toBe('reconnect_needed');
    });
  });

  it('follows the rate limit of a user apart from the application’s', async () => {
    await connect();
    await call();
    reply = (_call, response) => {
      response.setHeader('ratelimit-limit', '800');
      response.setHeader('ratelimit-remaining', '0');
      response.setHeader('ratelimit-reset', String(Math.ceil(Date.now() / 1_000) + 60));
      answerWith(response, 429, '{"message":"slow down"}');
    };
    const answer = await chat();
    expect([answer.status, answer.headers['ratelimit-remaining'], textOf(answer)]).toEqual([
      429,
      '0',
      '{"message":"slow down"}',
    ]);
    await expect(chat()).rejects.toThrow(/rate limit is used up/);
    expect(setup.fake.count(send)).toBe(1);

    reply = (_call, response) => answerWith(response, 200, '{}');
    expect((await call()).status).toBe(200);
  });

  it('refuses a reply that is too large, and one that contains the token', async () => {
    reply = (_call, response) => answerWith(response, 200, ' '.repeat(maxCallReplyBytes + 1));
    await expect(call()).rejects.toThrow(/larger than 700 KiB/);
    reply = ({ headers }, response) => answerWith(response, 200, JSON.stringify(headers));
    await expect(call()).rejects.toThrow(/contains the access token/);
  });

  const cut: typeof reply = (_call, response) => response.socket?.destroy();
  const echo: typeof reply = ({ headers }, response) => answerWith(response, 200, JSON.stringify(headers));
  const flood: typeof reply = (_call, response) =>
    answerWith(response, 200, ' '.repeat(maxCallReplyBytes + 1));
  it.each<[string, typeof reply, boolean, () => Promise<CallPlatformReply>]>([
    ['whose reply is cut', cut, true, chat],
    ['whose reply is unusable', echo, true, chat],
    ['whose reply is too large', flood, true, chat],
    ['with GET', cut, false, call],
  ])('says whether the platform may have carried out a call %s', async (_, fault, isUncertain, send) => {
    await connect();
    reply = fault;

    const error: unknown = await send().catch((thrown: unknown) => thrown);

    expect(error instanceof Error && error.message.includes('may or may not have carried out')).toBe(
      isUncertain,
    );
    expect(error instanceof ServiceError && error.isUncertain).toBe(isUncertain);
  });

  it('does not say that the platform may have carried out a call that was rejected or not sent', async () => {
    await connect();
    const { fault } = setup.fake;
    setup.fake.fault = (received, response) => {
      if (received.name !== 'GET /oauth2/validate') return fault(received, response);
      response.socket?.destroy();
      return true;
    };
    // The service cannot find out whether the token is still valid.
    reply = (_call, response) => answerWith(response, 401, '{}');
    await expect(chat()).rejects.toThrow(/^The connection to the platform failed \(\w+\)\.$/);
    instance = await setup.createInstance({ PLATFORM_API_URL: `http://127.0.0.1:${await freePort()}/api` });
    await expect(chat()).rejects.toThrow(/^The connection to the platform failed \(ECONNREFUSED\)\.$/);
  });

  it.each([
    ['a path that is not in the catalog', 'GET', '../oauth2/token', 'not_found'],
    ['a change of subscriptions', 'POST', 'eventsub/subscriptions', 'forbidden'],
    ['an endpoint for Extensions', 'GET', 'extensions', 'forbidden'],
    ['a user’s endpoint without a connection', 'POST', 'polls', 'invalid'],
  ] as const)('refuses %s without a call', async (_, method, path, code) => {
    await expect(call({ method, path })).rejects.toMatchObject({ code });
    expect(setup.fake.calls).toEqual([]);
  });

  it('says that there is no platform when PLATFORM is none', async () => {
    const none = await setup.createInstance({ PLATFORM: 'none' });

    await expect(
      none.calls.call({ method: 'GET', path: 'users', query: '', body: null, connectionId: null }),
    ).rejects.toThrow(/PLATFORM is none/);
  });

  it('logs no token, no query, and no body', async () => {
    await connect();
    reply = (_call, response) => answerWith(response, 500, '{"message":"a reply"}');
    await call({ query: 'login=somebody-who-was-looked-up' });
    await chat();

    expect(setup.logs).toContain('call to the platform failed');
    for (const secret of [
      ...consent.issued,
      ...setup.fake.tokens,
      'somebody-who-was-looked-up',
      '"hi"',
      'a reply',
    ])
      expect(setup.logs).not.toContain(secret);
  });
});
