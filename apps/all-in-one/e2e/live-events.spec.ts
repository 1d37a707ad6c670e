import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, uniqueType, type EventRecord } from './api.js';
import { LiveSocket, LiveStream, socketPath, streamPath } from './live-clients.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

describe('live events', () => {
  let stack: Stack;
  const opened: { close(): unknown }[] = [];

  beforeAll(async () => {
    stack = await startStack();
  }, startLimitMs);
  afterAll(() => stack.stop());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((live) => live.close()));
  });

  const noted = <T extends { close(): unknown }>(live: T): T => {
    opened.push(live);
    return live;
  };
  const connect = async (first: object = {}, gateway = stack.url): Promise<LiveSocket> =>
    noted(await LiveSocket.ready(gateway, { token: stack.ownerToken, ...first }));
  const create = async (type: string, fields: Record<string, unknown> = {}): Promise<EventRecord> => {
    const body = eventBody({ event_type: type, ...fields });
    const answer = await stack.request<EventRecord>('POST', eventsPath, { body });
    expect(answer.status).toBe(201);
    return answer.json;
  };

  it('reach a plain client as records only, through every gateway and path', async () => {
    const type = uniqueType();
    const first = { token: stack.ownerToken };
    // A gateway that has just started makes its clients wait until it reads the stream. Plain clients are not told when this wait is over.
    for (const gateway of stack.urls) await connect({}, gateway);
    const paths = [socketPath, '/ws/platform-events', '/ws/twitch-events/', '/ws/twitch-events'];
    const sockets = await Promise.all(
      paths.map(async (path, index) =>
        noted(await LiveSocket.open(stack.urls[index % 2]!, first, { path: `${path}?event_type=${type}` })),
      ),
    );
    await eventually(async () =>
      expect(await stack.metric('gateways', 'live_connections')).toBe(stack.urls.length + paths.length),
    );
    const data = '{"b":1.10,"a":12345678901234567890,"c":"\\u00e9"}';
    const created = await stack.request('POST', eventsPath, {
      body: `{"event_type":"${type}","event_source":"mine","event_data":${data}}`,
    });
    const test = await stack.request('POST', `${eventsPath}/${type}/test`, { body: data });

    for (const socket of sockets) {
      await eventually(() => expect(socket.texts).toHaveLength(2));
      expect(socket.texts).toEqual([created.text, test.text]);
    }
    expect(created.text).toContain(data);
  });

  it('reach each client once on any gateway, and accept the filters of the list', async () => {
    const type = uniqueType();
    const marker = uniqueType('marker');
    const mine = { event_type: [type, marker] };
    const [all, broadcaster, origin, user] = await Promise.all([
      connect(mine),
      connect({ ...mine, broadcaster_user_id: '42' }, stack.urls[1]),
      connect({ ...mine, origin: 'test' }),
      connect({ ...mine, user_name: 'aNN' }, stack.urls[1]),
    ]);
    const one = await create(type, { event_data: { broadcaster_user_id: '42', user_name: 'Ann' } });
    const two = await create(type, { event_data: { broadcaster_user_id: '7', user_name: 'Bob' } });
    const body = { broadcaster_user_id: '42', user_name: 'Zoe' };
    const { json: test } = await stack.request<EventRecord>('POST', `${eventsPath}/${type}/test`, { body });

    await eventually(() => expect(all.events).toMatchObject([one, two, test]));
    await eventually(() => expect(broadcaster.events).toMatchObject([one, test]));
    await eventually(() => expect(origin.events).toMatchObject([test]));
    await eventually(() => expect(user.events).toMatchObject([one]));
  });

  it('resume after a position on either gateway, without gaps or duplicates', async () => {
    const type = uniqueType();
    const before = await connect({ event_type: type });
    const first = await create(type);
    await eventually(() => expect(before.events).toMatchObject([first]));
    await before.close();
    const missed = [await create(type), await create(type)];

    for (const gateway of stack.urls) {
      const after = await connect({ event_type: type, after: before.position }, gateway);
      await eventually(() => expect(after.events).toMatchObject(missed));
    }
    // The position in `ready` is also valid for resuming.
    const fresh = await connect({ event_type: type });
    await fresh.close();
    const next = await create(type);
    const resumed = await connect({ event_type: type, after: fresh.position }, stack.urls[1]);
    await eventually(() => expect(resumed.events).toMatchObject([next]));
  });

  it('end within a second when the token is rotated at any gateway', async () => {
    const { token, password } = await stack.registerUser();
    const [socket, stream] = [
      await connect({ token }, stack.urls[1]),
      noted(await LiveStream.open(stack.urls[1]!, token)),
    ];
    await stack.request('POST', '/api/v1/users/me/token', {
      token,
      gateway: stack.url,
      body: { current_password: password },
    });

    // Each gateway checks tokens every 0.8 s. The remaining time is a margin for a busy machine.
    await eventually(() => expect(socket.closed?.code).toBe(4401), { timeoutMs: 15_000 });
    await eventually(() => expect(stream.parts.at(-1)?.event).toBe('closed'), { timeoutMs: 15_000 });
    expect(JSON.parse(stream.parts.at(-1)?.data ?? '')).toMatchObject({ code: 4401 });
  });

  it('carry controls to the connections of the user with the name that have asked for them, at every gateway', async () => {
    const name = uniqueType('overlay');
    const { id: user, token } = await stack.registerUser();
    const control = (body: object, from = token) =>
      stack.request('POST', `/api/v1/live-connections/${encodeURIComponent(` ${name}`)}/controls`, {
        body,
        token: from,
      });
    const [overlay, second, deaf, foreign] = await Promise.all([
      connect({ token, name, controls: true }),
      connect({ token, name, controls: true }, stack.urls[1]),
      connect({ token, name }),
      connect({ name, controls: true }),
    ]);
    const stream = noted(
      await LiveStream.open(stack.url, token, { path: `${streamPath}?name=${name}&controls=true` }),
    );
    const plain = noted(await LiveSocket.open(stack.url, { token, name, controls: true }));
    const sent = { connection: name, control: 'skip', connections: 4 };
    await eventually(async () =>
      expect(await control({ control: 'skip' })).toMatchObject({ status: 200, json: sent }),
    );

    expect(await control({ control: 'pause', user }, stack.ownerToken)).toMatchObject({
      status: 200,
    });
    const received = ({ controls }: LiveSocket) => controls.slice(1);
    const frames = ['skip', 'pause'].map((control) => ({ event: 'control', control }));
    await eventually(() => {
      for (const socket of [overlay, second]) expect(received(socket).slice(-2)).toEqual(frames);
      expect(plain.messages.slice(-2)).toEqual(frames);
      // Positions can arrive between and after the control messages.
      expect(stream.parts.filter(({ event }) => event === 'control').slice(-2)).toEqual(
        ['skip', 'pause'].map((control) => ({ event: 'control', data: JSON.stringify({ control }) })),
      );
    });
    expect([received(deaf), received(foreign)]).toEqual([[], []]);
  });

  it('are listed for their user, with the state and whether they take controls', async () => {
    const { username, token } = await stack.registerUser();
    await Promise.all([
      connect({ token, name: 'overlay', controls: true }),
      connect({ token, name: 'bot' }, stack.urls[1]),
      connect({ name: 'of somebody else' }),
    ]);
    const listed = { username, state: 'live', lag_events: 0, transport: 'websocket' };
    // Gateways report their connections every 5 s.
    await eventually(
      async () =>
        expect((await stack.request('GET', '/api/v1/live-connections', { token })).json).toMatchObject([
          { ...listed, name: 'bot', takes_controls: false },
          { ...listed, name: 'overlay', takes_controls: true },
        ]),
      { timeoutMs: 60_000 },
    );
  });

  it('carry no control without a connection, a known control, or the right to it', async () => {
    const name = uniqueType('overlay');
    const path = `/api/v1/live-connections/${name}/controls`;
    const [user, other] = await Promise.all([stack.registerUser(), stack.registerUser()]);
    const overlay = await connect({ name });
    await connect({ name, controls: true, token: user.token });

    expect(await stack.request('POST', path, { body: { control: 'skip' } })).toMatchObject({ status: 404 });
    for (const wrong of [{}, { control: 'toString' }, { control: 1 }, { control: 'skip', user: 'x' }])
      expect(await stack.request('POST', path, { body: wrong })).toMatchObject({ status: 400 });
    const { token } = other;
    expect(
      await stack.request('POST', path, { body: { control: 'skip', user: user.id }, token }),
    ).toMatchObject({ status: 403 });
    expect(overlay.controls).toHaveLength(1);
  });

  it('are sent again by a replay, to clients whose filters match', async () => {
    const type = uniqueType();
    const filtered = await Promise.all(
      stack.urls.map((gateway) => connect({ event_type: type, origin: 'platform' }, gateway)),
    );
    const record = await create(type);
    // Each client gets the event live, even if it connects before its gateway has read the event.
    for (const live of filtered) await eventually(() => expect(live.events).toMatchObject([record]));
    const socket = await connect({ event_type: type }, stack.urls[1]);
    const stream = noted(await LiveStream.open(stack.url, stack.ownerToken, { path: `${streamPath}?event_type=${type}` })); // prettier-ignore
    // A keep-alive from the gateway can add another part.
    await eventually(() => expect(stream.parts).not.toEqual([]));
    const replayed = await stack.request('POST', `${eventsPath}/${record.id}/replay`);
    expect(replayed).toMatchObject({ status: 200, json: { ...record, origin: 'replay' } });
    await eventually(() => expect(socket.events).toHaveLength(1));
    await eventually(() => expect(stream.events).toHaveLength(1));
    const next = await create(type);
    for (const live of filtered) await eventually(() => expect(live.events).toMatchObject([record, next]));

    expect(socket.texts.at(1)).toBe(replayed.text);
    expect(stream.events[0]).not.toHaveProperty('position');
    const sent = stack.gateways.map((gateway) => gateway.metric('live_replays_total', { result: 'sent' }));
    expect(await Promise.all(sent)).toEqual([1, 1]);
  });
});
