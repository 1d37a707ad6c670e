import { setTimeout as wait } from 'node:timers/promises';
import type { NewEvent } from '@stream-events/contracts';
import { eventually, type ServiceProcess } from '@stream-events/testing';
import { v7 as uuidV7 } from 'uuid';
import { newEvent, uniqueType, type Problem } from './api.js';
import { LiveSocket } from './live-clients.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface Rehearsal {
  id: string;
  status: string;
  position: string;
  sent: number;
  connections: number;
  error: string | null;
}

const path = '/api/v1/rehearsals';
const unknownId = '01999999-9999-7999-8999-999999999999';
// Another gateway takes over the rehearsals of a dead gateway within 10 s. The remaining time is a margin for a busy machine.
const takeOverMs = 60_000;

let stack: Stack;
let sockets: LiveSocket[] = [];
let hours = 0;

beforeAll(async () => {
  stack = await startStack();
}, startLimitMs);

afterAll(() => stack.stop());

afterEach(async () => {
  await Promise.all(sockets.map((socket) => socket.close()));
  sockets = [];
  await stack.query('DELETE FROM gateway.rehearsals');
});

const begin = (body: object, token?: string, gateway?: string) =>
  stack.request<Rehearsal>('POST', path, { body, ...(token && { token }), ...(gateway && { gateway }) });
const show = async (id: string): Promise<Rehearsal> =>
  (await stack.request<Rehearsal>('GET', `${path}/${id}`)).json;
const change = (id: string, body: object) => stack.request<Rehearsal>('PATCH', `${path}/${id}`, { body });

async function connect(
  name: string,
  { token = stack.ownerToken, gateway = stack.nextUrl }: { token?: string; gateway?: string } = {},
): Promise<LiveSocket> {
  const socket = await LiveSocket.ready(gateway, { token, name });
  sockets.push(socket);
  return socket;
}

const at = (time: number): string => new Date(time).toISOString();
const idsOf = (events: readonly { id: string | null }[]): (string | null)[] => events.map(({ id }) => id);

/** Stores events of a unique type, in an hour that no other test uses. `distances` are milliseconds from the start of that hour. */
async function store(
  distances: readonly number[],
  describeEvent: (index: number) => object = () => ({}),
): Promise<{ type: string; start: number; events: NewEvent[]; range: object }> {
  const type = uniqueType();
  hours += 1;
  const start = Date.UTC(2026, 0, 1, hours);
  const events = distances.map((distance, index) =>
    newEvent({ time: start + distance, eventType: type, ...describeEvent(index) }),
  );
  // Keep each request below 1 MiB, the size limit of NATS messages.
  const perRequest = events.some(({ eventData }) => eventData.length > 10_000) ? 2 : 100;
  for (let index = 0; index < events.length; index += perRequest)
    await stack.storeEvents(events.slice(index, index + perRequest));
  const until = at(start + (distances.at(-1) ?? 0) + 1);
  return { type, start, events, range: { since: at(start), until, event_type: type } };
}

const everyMs = (ms: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => index * ms);

async function untilEnded(id: string): Promise<Rehearsal> {
  return eventually(
    async () => {
      const rehearsal = await show(id);
      expect(rehearsal.status).not.toBe('running');
      return rehearsal;
    },
    { timeoutMs: takeOverMs },
  );
}

describe('a rehearsal', () => {
  it('sends the events of a range in order with their distances, to the connections of the user with the name only', async () => {
    const { range, events } = await store([0, 200, 1_200, 1_201, 3_000]);
    const member = await stack.registerUser();
    const [overlay, other, stranger] = await Promise.all([
      connect('overlay'),
      connect('other'),
      connect('overlay', { token: member.token }),
    ]);

    const startedAt = performance.now();
    const begun = await begin({ ...range, connection: 'overlay', speed: 2 });

    expect(begun.status).toBe(201);
    expect(begun.headers.get('location')).toBe(`${path}/${begun.json.id}`);
    expect(begun.json).toMatchObject({
      ...{ status: 'running', connection: 'overlay', speed: 2, paused: false, sent: 0, error: null },
      ...{ streamer: null, stream: null, created_by: 'owner', finished: null },
    });
    expect(await untilEnded(begun.json.id)).toMatchObject({ status: 'done', sent: 5, connections: 0 });
    expect(performance.now() - startedAt).toBeGreaterThan(1_500);
    await eventually(() => expect(idsOf(overlay.events)).toEqual(idsOf(events)));
    expect(
      overlay.events.every(({ origin, position }) => origin === 'replay' && position === undefined),
    ).toBe(true);
    expect([...other.events, ...stranger.events]).toEqual([]);
  });

  it('is paused, sought, made faster, and stopped', async () => {
    // Events are at least a minute apart, so nothing is sent until the test changes the position.
    const { range, events, start } = await store([...everyMs(300_000, 9), 41 * 60_000]);
    const overlay = await connect('overlay');
    const { json } = await begin({ ...range, connection: 'overlay', paused: true });
    await eventually(async () => expect(await show(json.id)).toMatchObject({ connections: 1, sent: 0 }));
    expect(overlay.events).toEqual([]);

    expect(await change(json.id, { position: at(start + 1_499_000), paused: false, speed: 5 })).toMatchObject(
      {
        status: 200,
        json: { speed: 5, paused: false },
      },
    );
    await eventually(() => expect(idsOf(overlay.events)).toEqual([events[5]?.id]));
    await change(json.id, { position: at(start + 600_000) });
    await eventually(() => expect(idsOf(overlay.events)).toEqual([events[5]?.id, events[2]?.id]));
    await change(json.id, { position: at(start + 2_399_000), speed: 20 });
    await eventually(() =>
      expect(idsOf(overlay.events)).toEqual([5, 2, 8, 9].map((index) => events[index]?.id)),
    );
    expect(await untilEnded(json.id)).toMatchObject({ status: 'done', sent: 4 });
    expect(await change(json.id, { paused: true })).toMatchObject({ status: 409 });

    const { json: next } = await begin({ ...range, connection: 'overlay' });
    await eventually(() => expect(overlay.events).toHaveLength(5));
    expect(await stack.request('DELETE', `${path}/${next.id}`)).toMatchObject({ status: 204 });
    expect(await show(next.id)).toMatchObject({ status: 'cancelled' });
    expect(await stack.request('DELETE', `${path}/${next.id}`)).toMatchObject({ status: 204 });
    expect(await stack.request('GET', `${path}/${next.id}`)).toMatchObject({ status: 404 });
  });

  it('stands still while no connection has the name', async () => {
    // Long enough that the first connection closes before the rehearsal ends, even on a busy machine.
    const { range, events } = await store(everyMs(1_000, 60));
    const { json } = await begin({ ...range, connection: 'overlay' });

    const first = await connect('overlay');
    await eventually(() => expect(first.events.length).toBeGreaterThan(3));
    await first.close();
    await eventually(async () =>
      expect(await show(json.id)).toMatchObject({ connections: 0, status: 'running' }),
    );
    const second = await connect('overlay');
    expect(await change(json.id, { speed: 20 })).toMatchObject({ status: 200 });

    expect(await untilEnded(json.id)).toMatchObject({ status: 'done' });
    await eventually(() =>
      expect([...new Set(idsOf([...first.events, ...second.events]))]).toEqual(idsOf(events)),
    );
  });

  it('sends no faster than its connection reads, and drops nothing', async () => {
    const data = JSON.stringify({ broadcaster_user_id: '4711', text: 'x'.repeat(180_000) });
    const { range, events } = await store(everyMs(10, 100), () => ({ eventData: data }));
    const overlay = await connect('overlay');
    overlay.pause();
    const { json } = await begin({ ...range, connection: 'overlay', speed: 20 });
    await eventually(async () => expect((await show(json.id)).sent).toBeGreaterThan(0));
    // A rehearsal that ignored its slow connection would send everything within 50 ms. Wait only 1 s, because the gateway closes a
    // connection that reads nothing for 10 s.
    await wait(1_000);

    // The rehearsal has sent only what fits into the socket buffers.
    expect((await show(json.id)).sent).toBeLessThan(events.length);
    overlay.resume();

    expect(await untilEnded(json.id)).toMatchObject({ status: 'done', sent: 100 });
    await eventually(() => expect(idsOf(overlay.events)).toEqual(idsOf(events)), { timeoutMs: takeOverMs });
  });

  it('passes the filters and the limits of the connection', async () => {
    const { range, type } = await store([0, 10, 20], (index) => ({
      eventData: JSON.stringify({ broadcaster_user_id: String(index) }),
    }));
    const body = { name: 'overlay', scopes: ['events:live'], channel_ids: ['1', '2'] };
    const { key } = (await stack.request<{ key: string }>('POST', '/api/v1/tokens', { body })).json;
    const limited = await connect('overlay', { token: key });
    const filtered = await LiveSocket.ready(stack.url, {
      ...{ token: stack.ownerToken, name: 'overlay', broadcaster_user_id: '0', event_type: type },
    });
    sockets.push(filtered);

    const { json } = await begin({ ...range, connection: 'overlay' });

    expect(await untilEnded(json.id)).toMatchObject({ status: 'done', sent: 3 });
    const channels = ({ events }: LiveSocket) =>
      events.map(({ event_data }) => event_data.broadcaster_user_id);
    await eventually(() => expect([channels(limited), channels(filtered)]).toEqual([['1', '2'], ['0']]));
  });

  describe('of a stream', () => {
    it('sends the events of its channel between start and end, without test events', async () => {
      await stack.startMonitor();
      const channel = { eventData: '{"broadcaster_user_id":"815"}' };
      const { start, events } = await store([0, 500, 600, 700, 800, 1_500], (index) => ({
        ...(index !== 2 && channel),
        ...(index === 3 && { origin: 'test' }),
      }));
      const { streamer, stream } = await insertStream('815', start + 100, start + 1_000);
      const overlay = await connect('overlay');

      const begun = await begin({ connection: 'overlay', streamer, stream, speed: 20 });

      expect(begun.json).toMatchObject({ streamer, stream, channel_id: '815', origin: 'platform' });
      expect(await untilEnded(begun.json.id)).toMatchObject({ status: 'done', sent: 2 });
      await eventually(() => expect(idsOf(overlay.events)).toEqual([events[1]?.id, events[4]?.id]));
      expect(await begin({ connection: 'overlay', streamer, stream: unknownId })).toMatchObject({
        status: 404,
      });
    });
  });

  describe('when a gateway is killed', () => {
    let third: ServiceProcess;
    beforeEach(async () => {
      third = await stack.prepareGateway();
      await third.start();
    }, startLimitMs);
    afterEach(() => third.stop());

    it('continues when the connection is open again at another one, and misses nothing', async () => {
      const { range, events } = await store(everyMs(50, 100));
      const before = await connect('overlay', { gateway: third.url });
      const { json } = await begin({ ...range, connection: 'overlay' });
      await eventually(() => expect(before.events.length).toBeGreaterThan(20));

      await third.kill('SIGKILL');
      await eventually(() => expect(before.closed).toBeDefined());
      const after = await connect('overlay');

      expect(await untilEnded(json.id)).toMatchObject({ status: 'done' });
      const received = () => idsOf([...before.events, ...after.events]);
      await eventually(() => expect([...new Set(received())]).toEqual(idsOf(events)));
      expect(received().length - events.length).toBeLessThan(20);
    });
  });
});

describe('/api/v1/rehearsals', () => {
  const since = '2026-01-01T00:00:00Z';
  const until = '2026-01-02T00:00:00Z';
  const range = { since, until, connection: 'overlay', paused: true };

  it('reports all errors of a request in one response', async () => {
    const body = {
      ...{ connection: '', user: 'x', streamer: unknownId, since: 'soon', until: 5, speed: 21, paused: 'no' },
      ...{ position: 'late', misspelt: 1, event_type: 5 },
    };
    const { status, json } = await stack.request<Problem>('POST', path, { body });

    expect(status).toBe(400);
    expect(Object.keys(json.errors ?? {}).sort()).toEqual(
      [
        ...['connection', 'event_type', 'misspelt', 'paused', 'position', 'since', 'speed', 'streamer'],
        ...['until', 'user'],
      ].sort(),
    );
  });

  it.each([
    [{}, 'since'],
    [{ since: '2026-01-01', until: '2026-01-09' }, 'since'],
    [{ since, until, position: '2026-01-03' }, 'position'],
    [{ since, until, speed: 0.4 }, 'speed'],
    [{ since, until, speed: '1' }, 'speed'],
    [{ since, streamer: unknownId, stream: unknownId }, 'since'],
    [{ stream: unknownId }, 'streamer'],
    [{ streamer: unknownId, stream: unknownId, channel_id: '1' }, 'channel_id'],
    [{ since, until, user: unknownId }, 'user'],
  ])('refuses %j', async (body, field) => {
    const { status, json } = await stack.request<Problem>('POST', path, {
      body: { connection: 'overlay', ...body },
    });

    expect([status, Object.keys(json.errors ?? {})]).toEqual([400, [field]]);
  });

  it('refuses changes that are not valid, and changes nothing', async () => {
    const { json } = await begin(range);

    for (const body of [{ speed: 0 }, { position: '2025-12-31' }, { position: '2026-01-03' }, { paused: 1 }])
      expect(await change(json.id, body)).toMatchObject({ status: 400 });
    expect(await show(json.id)).toMatchObject({
      speed: 1,
      paused: true,
      position: '2026-01-01T00:00:00+0000',
    });
  });

  it('keeps the rehearsals of users apart; owners find all, and may rehearse to every connection', async () => {
    const [member, stranger] = await Promise.all([stack.registerUser(), stack.registerUser()]);
    const own = await begin(range, member.token);
    const foreign = await begin({ ...range, connection: 'second', user: member.id });

    expect([own.status, foreign.status]).toEqual([201, 201]);
    expect(await begin({ ...range, user: member.id }, stranger.token)).toMatchObject({ status: 403 });
    const listed = async (token?: string): Promise<string[]> => {
      const { json } = await stack.request<Rehearsal[]>('GET', path, token === undefined ? {} : { token });
      return json.map(({ id }) => id);
    };
    const all = [foreign.json.id, own.json.id];
    expect([await listed(), await listed(member.token), await listed(stranger.token)]).toEqual([
      all,
      all,
      [],
    ]);
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(
        await stack.request(method, `${path}/${own.json.id}`, {
          token: stranger.token,
          ...(method === 'PATCH' && { body: { paused: false } }),
        }),
      ).toMatchObject({ status: 404 });
    expect(await show(own.json.id)).toMatchObject({ status: 'running', paused: true });
  });

  it('runs one rehearsal for a connection, and three for a user', async () => {
    const { token } = await stack.registerUser();
    const start = (connection: string) => begin({ ...range, connection }, token);

    expect(await start('a')).toMatchObject({ status: 201 });
    expect(await start('a')).toMatchObject({ status: 409 });
    expect([(await start('b')).status, (await start('c')).status]).toEqual([201, 201]);
    const refused = await start('d');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    expect((await begin({ ...range, connection: 'a' })).status).toBe(201);
  });

  it('needs the scopes to read and to send events', async () => {
    const createToken = async (scopes: string[]): Promise<string> =>
      (await stack.request<{ key: string }>('POST', '/api/v1/tokens', { body: { name: 't', scopes } })).json
        .key;

    expect(await begin(range, await createToken(['events:read', 'events:live']))).toMatchObject({
      status: 403,
    });
    const token = await createToken(['events:read', 'events:write']);
    expect(await begin(range, token)).toMatchObject({ status: 201 });
    // An owner's named token does not have the owner's rights.
    const { id } = await stack.registerUser();
    expect(await begin({ ...range, user: id }, token)).toMatchObject({ status: 403 });
  });

  it('ends with its user, and after hours without a connection', async () => {
    const member = await stack.registerUser();
    const { json } = await begin(range, member.token);
    await stack.request('DELETE', `/api/v1/users/${member.id}`);
    expect(await stack.request('GET', `${path}/${json.id}`)).toMatchObject({ status: 404 });

    const { json: idle } = await begin({ ...range, paused: false });
    await stack.query(`UPDATE gateway.rehearsals SET moved_at = now() - interval '13 hours' WHERE id = $1`, [
      idle.id,
    ]);
    const ended = await untilEnded(idle.id);
    expect(ended).toMatchObject({ status: 'failed', error: expect.stringContaining('12 hours') });
  });
});

/** Inserts a finished stream, as the monitor would record it. */
async function insertStream(
  channel: string,
  startedAt: number,
  endedAt: number,
): Promise<{ streamer: string; stream: string }> {
  const [streamer, stream] = [uuidV7(), uuidV7({ msecs: startedAt })];
  await stack.query(
    `INSERT INTO streamer_monitor.streamers (id, platform_username, platform_id, named_at, streaming, is_streaming_known, disabled,
       created_at, updated_at, next_poll_at, next_naming_at)
     VALUES ($1, 'ada', $2, now(), false, true, true, now(), now(), 'infinity', 'infinity')`,
    [streamer, channel],
  );
  await stack.query(
    `INSERT INTO streamer_monitor.streams (id, streamer_id, stream_id, user_id, user_login, user_name, game_id, game_name, type, title,
       viewer_count, started_at, ended_at, language, thumbnail_url, is_mature, is_miss_confirmed)
     VALUES ($1, $2, '4711', $3, 'ada', 'Ada', '', '', 'live', '', 0, $4, $5, 'en', '', false, false)`,
    [stream, streamer, channel, new Date(startedAt), new Date(endedAt)],
  );
  return { streamer, stream };
}
