import {
  callPlatform,
  createStreamer,
  deleteStreamer,
  getLatestStream,
  getPlatformStatus,
  getRebuild,
  getStreamer,
  getStreamHistory,
  isJsonObject,
  listEventTypes,
  listStreamers,
  listStreams,
  listSubscriptions,
  rebuildStreams,
  ServiceError,
  setEventType,
  updateStreamer,
  type Contract,
  type PlatformStatusReply,
} from '@stream-events/contracts';
import { connectNats, parseRequest } from '@stream-events/messaging';
import { eventually } from '@stream-events/testing';
import type { NatsConnection } from '@nats-io/transport-node';
import { v7 as uuidV7 } from 'uuid';
import type { Problem } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const path = '/api/v1/streamers';
const id = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';
const streamId = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c12';
const time = Date.parse('2026-11-21T07:30:00.500Z');
const printed = '2026-11-21T07:30:00+0000';

const streamer = {
  id,
  platformUsername: 'Mira_Plays',
  platformId: '47019283',
  streaming: true,
  disabled: false,
  createdAt: time,
  updatedAt: time,
};
const streamerRecord = {
  id,
  platform_username: 'Mira_Plays',
  platform_id: '47019283',
  streaming: true,
  disabled: false,
  created: printed,
  updated: printed,
};
const rebuild = {
  state: 'running',
  streamersDone: 1,
  streamersTotal: 2,
  streamsChanged: 0,
  startedAt: time,
  endedAt: null,
  error: null,
};
const eventType = {
  type: 'stream.online',
  version: '1',
  condition: ['broadcaster_user_id'],
  scopes: [],
  description: 'A channel went live',
  active: true,
  subscriptions: { enabled: 1 },
  unsupported: null,
};
const status: PlatformStatusReply = {
  platform: 'none',
  credentials: { present: false, valid: null, tokenExpiresAt: null },
  budget: null,
  circuit: 'closed',
  subscriptions: {},
  cost: null,
  streamers: { monitored: 0, subscribed: 0, polledOnly: 0 },
  transport: { method: null, moved: 0, total: 0, problem: null, conduit: null },
  ...{ callback: null, webhookSecret: null, deliveryGaps: [], alarms: [], lastError: null },
};

/** Scripts the replies of the services behind the gateway, to cover rare replies. */
describe('routes of streamers and of the platform', () => {
  let stack: Stack;
  let userToken: string;
  const connections: NatsConnection[] = [];
  /** The last request per subject, validated against its contract. */
  const asked = new Map<string, object>();
  const answers = new Map<string, (request: object) => object>();

  beforeAll(async () => {
    stack = await startStack({ events: 0 });
    await Promise.all(['streamer-monitor' as const, 'platform-connector' as const].map(serve));
    const body = { username: 'an-ordinary-user', password: 'a password of an ordinary user' };
    userToken = (await stack.request<{ auth_token: string }>('POST', '/api/v1/users', { body })).json
      .auth_token;
  }, startLimitMs);

  afterEach(() => {
    asked.clear();
    answers.clear();
  });

  afterAll(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    await stack.stop();
  });

  async function serve(service: 'streamer-monitor' | 'platform-connector'): Promise<void> {
    const connection = await connectNats({ urls: [stack.nats.urlFor(service)], name: service });
    connections.push(connection);
    connection.subscribe(`request.${service}.>`, {
      callback: (_, message) => {
        const request: unknown = message.json();
        if (!isJsonObject(request)) throw new Error('not a Nest request');
        message.respond(
          JSON.stringify({ id: request.id, isDisposed: true, ...reply(message.subject, request.data) }),
        );
      },
    });
    await connection.flush();
  }

  function reply(subject: string, data: unknown): object {
    try {
      const answer = answers.get(subject);
      if (!answer) throw new ServiceError('unavailable', `no reply is scripted for ${subject}`);
      return { response: answer(data as object) }; // Safe cast: requests are objects, which `on` has checked.
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { err: error.toMessage() };
    }
  }

  /** Sets the reply for a contract. */
  function on<Request extends object>(
    contract: Contract<Request, object>,
    answer: (request: Request) => object,
  ): void {
    answers.set(contract.subject, (data) => {
      const request = parseRequest(contract, data);
      asked.set(contract.subject, request);
      return answer(request);
    });
  }

  const refuse =
    (...error: ConstructorParameters<typeof ServiceError>) =>
    (): never => {
      throw new ServiceError(...error);
    };

  it('GET /streamers collects ten thousand streamers from all pages', async () => {
    const all = Array.from({ length: 10_000 }, (_, index) => ({
      ...streamer,
      id: uuidV7(),
      platformId: `${index}`,
    }));
    on(listStreamers, ({ after }) => {
      const from = all.findIndex((one) => one.id === after) + 1;
      const streamers = all.slice(from, from + 1_000);
      return { streamers, next: from + 1_000 < all.length ? (streamers.at(-1)?.id ?? null) : null };
    });
    const answer = await stack.request<object[]>('GET', path);

    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.json).toEqual(
      all.map((one) => ({ ...streamerRecord, id: one.id, platform_id: one.platformId })),
    );
    expect(asked.get(listStreamers.subject)).toEqual({ after: all[8_999]?.id });
  });

  it('POST /streamers sends a request with defaults, and returns the streamer’s URL', async () => {
    on(createStreamer, () => streamer);
    const answer = await stack.request('POST', `${path}/`, {
      body: { twitch_username: ' Mira_Plays ', id: 1 },
    });

    expect(asked.get(createStreamer.subject)).toEqual({
      platformUsername: 'Mira_Plays',
      streaming: false,
      disabled: false,
    });
    expect([answer.status, answer.json]).toEqual([201, streamerRecord]);
    expect(answer.headers.get('location')).toBe(`${path}/${id}`);
  });

  it('POST /streamers passes on rejections by the monitor', async () => {
    const create = () => stack.request<Problem>('POST', path, { body: { platform_username: 'nobody' } });
    on(createStreamer, () => {
      throw ServiceError.onField('platform_username', 'the platform has no such user');
    });
    expect(await create()).toMatchObject({
      status: 400,
      json: { errors: { platform_username: [expect.any(String)] } },
    });
    on(createStreamer, refuse('conflict', 'nobody is monitored already'));
    expect(await create()).toMatchObject({ status: 409, json: { detail: 'nobody is monitored already' } });
    on(createStreamer, refuse('unavailable', 'the platform does not respond', { retryAfterSeconds: 7 }));
    const unavailable = await create();
    expect([unavailable.status, unavailable.headers.get('retry-after')]).toEqual([503, '7']);
    asked.clear();
    expect((await stack.request('POST', path, { body: { platform_username: 'a b' } })).status).toBe(400);
    expect(asked.size).toBe(0);
  });

  it('GET, PUT, PATCH, and DELETE /streamers/<id> send a request for one streamer', async () => {
    on(getStreamer, () => streamer);
    on(updateStreamer, () => streamer);
    on(deleteStreamer, () => ({ id }));

    expect(await stack.request('GET', `${path}/${id.toUpperCase()}`)).toMatchObject({
      status: 200,
      json: streamerRecord,
    });
    expect(asked.get(getStreamer.subject)).toEqual({ id });
    const put = await stack.request('PUT', `${path}/${id}`, {
      body: { platform_username: 'mira', disabled: true },
    });
    expect([put.status, put.json]).toEqual([200, streamerRecord]);
    expect(asked.get(updateStreamer.subject)).toEqual({
      id,
      platformUsername: 'mira',
      streaming: false,
      disabled: true,
    });
    expect((await stack.request('PUT', `${path}/${id}`, { body: { disabled: true } })).status).toBe(400);
    await stack.request('PATCH', `${path}/${id}`, { body: { disabled: true } });
    expect(asked.get(updateStreamer.subject)).toEqual({ id, disabled: true });
    expect(await stack.request('DELETE', `${path}/${id}`)).toMatchObject({ status: 204, text: '' });
    on(getStreamer, refuse('not_found', 'gone'));
    expect((await stack.request('GET', `${path}/${id}`)).status).toBe(404);
  });

  it('GET /streamers/<id>/streams pages with links that are bound to the path', async () => {
    const older = { direction: 'older' as const, id: streamId, inclusive: false };
    const newer = { direction: 'newer' as const, id: streamId, inclusive: true };
    on(listStreams, () => ({ streams: [], count: 7, next: older, previous: newer }));
    const first = await stack.request<{ next: string; previous: string }>(
      'GET',
      `${path}/${id}/streams/?page_size=3&x=y`,
    );

    expect(asked.get(listStreams.subject)).toEqual({ streamerId: id, pageSize: 3 });
    expect(first.json).toMatchObject({ count: 7, results: [] });
    expect(first.json.next).toContain(`${path}/${id}/streams/?page_size=3&x=y&cursor=`);
    await stack.request('GET', first.json.next);
    expect(asked.get(listStreams.subject)).toEqual({ streamerId: id, pageSize: 3, position: older });
    await stack.request('GET', first.json.previous);
    expect(asked.get(listStreams.subject)).toEqual({ streamerId: id, pageSize: 3, position: newer });
    const foreign = first.json.next.replace(id, uuidV7());
    expect(await stack.request('GET', foreign)).toMatchObject({
      status: 400,
      json: { errors: { cursor: expect.any(Array) } },
    });
    expect((await stack.request('GET', `${path}/${id}/streams?page_size=0`)).status).toBe(400);
  });

  it('GET …/streams/latest and …/streams/<id>/history return one stream', async () => {
    const sample = { at: time, viewerCount: 3, title: 'a', gameId: '1', gameName: 'b' };
    on(getLatestStream, refuse('not_found', 'no stream yet'));
    on(getStreamHistory, () => ({ samples: [sample] }));

    expect((await stack.request('GET', `${path}/${id}/streams/latest`)).status).toBe(404);
    const history = await stack.request('GET', `${path}/${id}/streams/${streamId}/history`);
    expect(history.json).toEqual([
      { at: printed, viewer_count: 3, title: 'a', game_id: '1', game_name: 'b' },
    ]);
    expect(asked.get(getStreamHistory.subject)).toEqual({ streamerId: id, streamId });
    for (const wrong of [`${path}/x/streams`, `${path}/x/streams/latest`, `${path}/${id}/streams/x/history`])
      expect((await stack.request('GET', wrong)).status).toBe(404);
  });

  it('/streamers/rebuild is for owners only, and is not a streamer’s id', async () => {
    on(rebuildStreams, () => rebuild);
    on(getRebuild, () => rebuild);
    const record = {
      state: 'running',
      streamers_done: 1,
      streamers_total: 2,
      streams_changed: 0,
      started_at: printed,
      ended_at: null,
      error: null,
    };

    expect(await stack.request('POST', `${path}/rebuild`)).toMatchObject({ status: 202, json: record });
    expect(await stack.request('GET', `${path}/rebuild/`)).toMatchObject({ status: 200, json: record });
    for (const method of ['GET', 'POST'])
      expect((await stack.request(method, `${path}/rebuild`, { token: userToken })).status).toBe(403);
  });

  it('GET /platform/subscriptions filters and pages', async () => {
    const next = { direction: 'older' as const, id, inclusive: false };
    const subscription = {
      id,
      subscriptionId: null,
      type: 'stream.online',
      version: '1',
      condition: { broadcaster_user_id: '1' },
      transport: null,
      status: 'waiting',
      reason: null,
      cost: null,
      createdAt: time,
      updatedAt: time,
    };
    on(listSubscriptions, () => ({ subscriptions: [subscription], count: 2, next, previous: null }));
    const subscriptions = '/api/v1/platform/subscriptions';
    const first = await stack.request<{ next: string }>('GET', `${subscriptions}?status=waiting`, {
      token: userToken,
    });

    expect(asked.get(listSubscriptions.subject)).toEqual({ pageSize: 50, status: 'waiting' });
    expect(first.json).toMatchObject({
      count: 2,
      previous: null,
      results: [{ id, status: 'waiting', created: printed }],
    });
    await stack.request('GET', first.json.next);
    expect(asked.get(listSubscriptions.subject)).toEqual({ pageSize: 50, status: 'waiting', position: next });
    expect((await stack.request('GET', `${subscriptions}?status=%00`)).status).toBe(400);
  });

  it('GET and PUT /platform/event-types return event types and activate or deactivate them', async () => {
    const types = '/api/v1/platform/event-types';
    const details = '/api/v1/platform/event-types/stream.online?version=1';
    const record = { ...eventType, permissions: [], event_type: 'stream-online', status: 'enabled', details };
    on(listEventTypes, () => ({ eventTypes: [eventType] }));
    on(setEventType, () => eventType);
    const put = (body: unknown, token = stack.ownerToken) =>
      stack.request('PUT', `${types}/stream.online`, { body, token });

    expect((await stack.request('GET', types, { token: userToken })).json).toEqual([record]);
    expect(await put({ active: true })).toMatchObject({ status: 200, json: record });
    expect(asked.get(setEventType.subject)).toEqual({ type: 'stream.online', active: true });
    expect((await put({ active: true }, userToken)).status).toBe(403);
    expect(await put({ active: 1 })).toMatchObject({
      status: 400,
      json: { errors: { active: ['must be true or false'] } },
    });
    on(setEventType, refuse('not_found', 'no such type'));
    expect((await put({ active: true })).status).toBe(404);
    on(setEventType, refuse('conflict', 'needs a conduit'));
    expect(await put({ active: true })).toMatchObject({ status: 409, json: { detail: 'needs a conduit' } });
    expect((await stack.request('PUT', `${types}/%00`, { body: { active: true } })).status).toBe(404);
  });

  it('GET /platform/event-types/<type> returns the schema of its events, and an example', async () => {
    const types = '/api/v1/platform/event-types';
    on(listEventTypes, () => ({ eventTypes: [eventType] }));
    for (const name of [
      'stream.online',
      'stream-online',
      'stream.online?version=1',
      'stream.online?version=',
    ])
      expect((await stack.request('GET', `${types}/${name}`, { token: userToken })).json).toMatchObject({
        type: 'stream.online',
        cost: 1,
        schema: { title: 'stream.online version 1', properties: { broadcaster_user_id: { type: 'string' } } },
        example: { broadcaster_user_id: expect.any(String) },
      });
    for (const name of ['nothing', 'stream.online?version=9', '%00', '__proto__'])
      expect((await stack.request('GET', `${types}/${name}`)).status).toBe(404);
  });

  it('GET /platform/status returns the platform’s status', async () => {
    on(getPlatformStatus, () => ({ ...status, secret: 'hush' }));
    const answer = await stack.request('GET', '/api/v1/platform/status', { token: userToken });

    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ platform: 'none', streamers: { polled_only: 0 }, last_error: null });
    expect(answer.text).not.toContain('hush');
  });

  it.each([
    ['DELETE', path, 'GET, HEAD, POST'],
    ['POST', `${path}/${id}`, 'DELETE, GET, HEAD, PATCH, PUT'],
    ['POST', `${path}/${id}/streams`, 'GET, HEAD'],
    ['POST', '/api/v1/platform/status', 'GET, HEAD'],
    ['DELETE', '/api/v1/platform/event-types/stream.online', 'GET, HEAD, PUT'],
  ])('%s %s responds with 405 and lists the allowed methods', async (method, wrong, allow) => {
    const answer = await stack.request(method, wrong, { ...(method === 'POST' && { body: {} }) });

    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
  });

  it.each([
    path,
    `${path}/${id}`,
    `${path}/${id}/streams`,
    '/api/v1/platform/status',
    '/api/v1/platform/event-types',
  ])('%s requires a token', async (guarded) => {
    expect((await stack.request('GET', guarded, { token: null })).status).toBe(401);
  });

  it('passes calls to the connector, and records those that change something, but no chat messages', async () => {
    const base = '/api/v1/platform/call';
    const headers = { 'content-type': 'application/json', 'ratelimit-remaining': '7' };
    const body = '{"data": [1.0]}';
    on(callPlatform, () => ({ status: 202, headers, body: Buffer.from(body).toString('base64') }));
    const query = 'broadcaster_id=1&moderator_id=2&a=%20';
    const answer = await stack.request('POST', `${base}/moderation/bans?${query}&connection=${id}`, {
      body: '{ "data": {"user_id": "3"} }',
    });

    expect([answer.status, answer.text, answer.headers.get('ratelimit-remaining')]).toEqual([202, body, '7']);
    expect(asked.get(callPlatform.subject)).toEqual({
      method: 'POST',
      path: 'moderation/bans',
      query,
      body: '{ "data": {"user_id": "3"} }',
      connectionId: id,
    });
    await stack.request('POST', `${base}/chat/messages`, { body: {} });
    on(callPlatform, () => ({ status: 204, headers: {}, body: '' }));
    expect((await stack.request('DELETE', `${base}/moderation/bans?${query}`)).text).toBe('');
    on(callPlatform, () => ({ status: 403, headers: {}, body: '' }));
    expect((await stack.request('PUT', `${base}/users`)).status).toBe(403);
    await eventually(async () => {
      const { json } = await stack.request<{ results: { action: string; object_id: string }[] }>(
        'GET',
        '/api/v1/audit-log',
      );
      const calls = json.results.filter(({ action }) => action === 'platform_call.sent');
      expect(calls.map((entry) => entry.object_id)).toEqual([
        'DELETE moderation/bans',
        'POST moderation/bans',
      ]);
    });
  });
});
