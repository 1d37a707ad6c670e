import { readFile } from 'node:fs/promises';
import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath } from './api.js';
import { LiveSocket, socketPath } from './live-clients.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const streamersPath = '/api/v1/streamers';

describe('a gateway with TAU_COMPATIBILITY', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ platform: true, environment: { TAU_COMPATIBILITY: 'on' } });
  }, startLimitMs);

  afterAll(() => stack.stop());

  const list = async (query: string): Promise<Record<string, unknown>[]> => {
    const { json } = await stack.request('GET', `${eventsPath}?${query}`);
    return json.results as Record<string, unknown>[]; // Safe cast: the response is a page.
  };

  it('shows and filters events by the values of TAU and of this service', async () => {
    const data = { origin: 'platform', event_source: 'PlatformSub', platform_id: '1' };
    const body = eventBody({ event_source: 'PlatformSub', event_data: data });
    const { json: created } = await stack.request('POST', eventsPath, { body });
    expect(created).toMatchObject({ origin: 'twitch', event_source: 'EventSub', event_data: data });
    expect(created.event_data).toEqual(data);
    await stack.request('POST', `${eventsPath}/raid/test`, { body: { a: 1 } });
    for (const query of [
      'origin=twitch',
      'origin=platform',
      'event_source=EventSub',
      'event_source=PlatformSub',
    ])
      expect(await list(query)).toEqual([created]);
    expect(await list('origin=test')).toMatchObject([{ origin: 'test', event_source: 'TestCall' }]);
    expect((await stack.request('GET', `${eventsPath}/${String(created.id)}`)).json).toEqual(created);
  });

  it('follows the links of a filtered list', async () => {
    for (let index = 0; index < 2; index += 1)
      await stack.request('POST', eventsPath, { body: eventBody({ event_source: 'PlatformSub' }) });
    const { json } = await stack.request('GET', `${eventsPath}?event_source=EventSub&page_size=1`);
    const next = new URL(String(json.next));
    expect(await list(next.search.slice(1))).toMatchObject([{ event_source: 'EventSub' }]);
  });

  it('shows streamers with the fields of TAU, in an envelope', async () => {
    const body = { twitch_username: 'sim_pixelforge' };
    const { json: created } = await stack.request('POST', streamersPath, { body });
    const id = String(created.platform_id);
    expect(created).toMatchObject({
      platform_username: 'sim_pixelforge',
      twitch_username: 'sim_pixelforge',
      twitch_id: id,
    });
    expect((await stack.request('GET', streamersPath)).json).toEqual({ results: [created] });
    const latest = `${streamersPath}/${String(created.id)}/streams/latest`;
    expect(await stack.request('GET', latest)).toMatchObject({ status: 200, json: {} });
    const unknown = `${streamersPath}/00000000-0000-4000-8000-000000000000/streams/latest`;
    expect((await stack.request('GET', unknown)).status).toBe(404);
  });

  it('sends records of TAU to plain WebSockets, and its own to WebSockets with positions', async () => {
    const first = { token: stack.ownerToken };
    // Plain sockets get no `ready`. Wait for a keep-alive instead.
    const keptAlive = { ...first, keep_alive: true };
    const plain = await LiveSocket.open(stack.gateway.url, keptAlive);
    const filtered = await LiveSocket.open(stack.gateway.url, keptAlive, {
      path: `${socketPath}?event_source=EventSub&origin=twitch`,
    });
    const positioned = await LiveSocket.ready(stack.gateway.url, first);
    await eventually(
      () => {
        for (const { controls } of [plain, filtered]) expect(controls.length).toBeGreaterThan(0);
      },
      { timeoutMs: 60_000 },
    );
    const body = eventBody({ event_source: 'PlatformSub' });
    const { json: created } = await stack.request('POST', eventsPath, { body });
    await eventually(() => {
      expect(plain.events).toContainEqual(created);
      expect(filtered.events).toContainEqual(created);
      expect(positioned.events).toMatchObject([{ id: created.id, origin: 'platform' }]);
    });
    await Promise.all([plain, filtered, positioned].map((socket) => socket.close()));
  });

  it('replays an event on GET and on POST', async () => {
    const { json } = await stack.request<{ id: string }>('POST', eventsPath, { body: eventBody() });
    const path = `/api/v1/twitch-events/${json.id}/replay/`;
    expect((await stack.request('GET', path)).status).toBe(200);
    expect((await stack.request('POST', path)).status).toBe(200);
  });

  it('has the paths that docs/tau.md names', async () => {
    const { json: streamers } = await stack.request<{ results: { id: string }[] }>('GET', streamersPath);
    const [streamer] = streamers.results;
    const { json: event } = await stack.request<{ id: string }>('POST', eventsPath, { body: eventBody() });
    const page = await readFile('docs/tau.md', 'utf8');
    const rows = [...page.matchAll(/^\| `([A-Z]+) (\/[^`]*)` \| (works|400|404) \|/gm)];
    expect(rows.length).toBeGreaterThan(25);
    for (const [, method = '', template = '', expected] of rows) {
      const id = template.includes('streamers') ? String(streamer?.id) : event.id;
      const path = template.replace('<id>', id).replace('<type>', 'stream-online');
      const { status } = await stack.request(method, path, method === 'GET' ? {} : { body: {} });
      const missing = status === 404 || status === 405 ? '404' : undefined;
      const seen = missing ?? (expected === '400' ? String(status) : 'works');
      expect([method, path, seen]).toEqual([method, path, expected]);
    }
  });

  it.each(['/ws/irc-messages/', '/ws/tau-status', '/ws/chat-bots/mira_bot/'])(
    'accepts silent sockets at %s',
    async (path) => {
      const wrong = await LiveSocket.open(stack.gateway.url, { token: 'wrong' }, { path });
      const silent = await LiveSocket.open(stack.gateway.url, { token: stack.ownerToken }, { path });
      const live = await LiveSocket.ready(stack.gateway.url, { token: stack.ownerToken });
      await stack.request('POST', eventsPath, { body: eventBody() });
      await eventually(() => expect(live.events).toHaveLength(1));
      await eventually(() => expect(wrong.closed?.code).toBe(4401));
      expect([silent.texts, silent.closed]).toEqual([[], undefined]);
      await Promise.all([silent, live].map((socket) => socket.close()));
    },
  );
});
