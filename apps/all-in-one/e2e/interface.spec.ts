import { eventually } from '@stream-events/testing';
import { eventsPath, uniqueType, type EventPage, type EventRecord } from './api.js';
import { describeFields, forms, type Fields } from './describe-fields.js';
import { LiveStream, streamPath } from './live-clients.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import {
  monitorStreamer,
  streamersPath,
  untilSubscribed,
  type StreamerRecord,
  type StreamPage,
  type StreamRecord,
} from './streamer-records.js';

// Tests every statement of the document "Stream Event Service Interface", which is the service's promise to its clients. The numbers are
// those of its sections. The tests see only HTTP, and import nothing of the code, so that a change to the code does not change them.

const { text, uuid, boolean, integer, absent, storedTime, testTime, url, link } = forms;

const scopesPath = '/api/v1/platform/scopes';
const apiEndpointsPath = '/api/v1/platform/api-endpoints';

const withAndWithoutSlash = (path: string): string[] => [path, `${path}/`];
const testPath = (type: string, path: string): string =>
  path.replace(/\/?$/, (slash) => `/${type}/test${slash}`);
const eventPaths = ['/api/v1/twitch-events', eventsPath].flatMap(withAndWithoutSlash);

/** The endpoints that need authentication. */
const endpoints: [method: string, path: string][] = [
  ['GET', '/api/v1/twitch-events'],
  ['GET', eventsPath],
  ['POST', eventsPath],
  ['POST', `${eventsPath}/stream-offline/test`],
  ['GET', streamersPath],
  ['POST', streamersPath],
  ['GET', `${streamersPath}/<STREAMER>`],
  ['GET', `${streamersPath}/<STREAMER>/streams`],
  ['GET', `${streamersPath}/<STREAMER>/streams/latest`],
  ['GET', scopesPath],
  ['POST', scopesPath],
  ['GET', `${scopesPath}/<SCOPE>`],
  ['GET', apiEndpointsPath],
  ['POST', apiEndpointsPath],
  ['GET', `${apiEndpointsPath}/<API_ENDPOINT>`],
];

const broadcaster = {
  broadcaster_user_id: '4711',
  broadcaster_user_name: 'Mira_Plays',
  broadcaster_user_login: 'mira_plays',
};
const newEvent = { event_type: 'stream-offline', event_source: 'Mine', event_data: broadcaster };
const newScope = { scope: 'one:two:three', required: true };
const newApiEndpoint = {
  description: 'Start a raid',
  endpoint: 'raids',
  method: 'POST',
  reference_url: 'https://example.org/reference#raids',
  token_type: 'OA',
  scope: null,
};

// A poll adds the title of a stream. If the first poll misses it, the next one follows after 45 s. The rest is a margin for a busy machine.
const afterPolling = { timeoutMs: 120_000 };

describe('interface', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;
  const login = { username: uniqueType('user'), password: 'correct horse battery staple' };
  let token: string;
  let simulated: SimulatedUser;
  let liveStreamer: StreamerRecord;
  let runningStream: StreamRecord;
  const ids = new Map<string, string>();

  beforeAll(async () => {
    stack = await startStack({ platform: true, gateways: 1, events: 1 });
    platform = new SimulatedPlatform(stack);
    // An ordinary user, because the document knows no owners.
    const user = await stack.request<{ auth_token: string }>('POST', '/api/v1/users', { body: login });
    token = user.json.auth_token;
    simulated = await platform.addUser();
    ids.set('<STREAMER>', (await monitorStreamer(stack, simulated.login)).id);
    ids.set('<SCOPE>', (await post<{ id: string }>(scopesPath, newScope)).id);
    ids.set('<API_ENDPOINT>', (await post<{ id: string }>(apiEndpointsPath, newApiEndpoint)).id);
    await untilSubscribed(stack, simulated.id);
    await stream('First');
    // The order of streams that start within the same second is open.
    await eventually(() => expect(Date.now()).toBeGreaterThan(Date.parse(runningStream.started_at) + 1_000));
    await stream('Second');
  }, startLimitMs);

  afterAll(() => stack.stop());

  const withIds = (path: string): string => path.replace(/<\w+>/, (name) => ids.get(name) ?? name);

  async function ask<Body>(method: string, path: string, status: number, body?: unknown): Promise<Body> {
    const options = { token, ...(body !== undefined && { body }) };
    const answer = await stack.request<Body>(method, withIds(path), options);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      status,
      expect.stringMatching(/^application\/json\b/),
    ]);
    return answer.json;
  }
  const get = <Body>(path: string) => ask<Body>('GET', path, 200);
  const post = <Body>(path: string, body: unknown) => ask<Body>('POST', path, 201, body);
  const postTest = (type: string, path = eventsPath) =>
    ask<EventRecord>('POST', testPath(type, path), 200, broadcaster);
  const listEvents = async (query: string, path = eventsPath) =>
    (await get<EventPage>(`${path}?${query}`)).results;
  const listStreams = async () => (await get<StreamPage>(`${streamersPath}/<STREAMER>/streams`)).results;

  /** Starts a stream, waits until the service shows its title, and ends it. */
  async function stream(title: string): Promise<void> {
    await platform.goLive(simulated.id, { title, game_name: 'Chess' });
    await eventually(async () => {
      runningStream = await get<StreamRecord>(`${streamersPath}/<STREAMER>/streams/latest`);
      expect(runningStream.title).toBe(title);
    }, afterPolling);
    liveStreamer = await get<StreamerRecord>(`${streamersPath}/<STREAMER>`);
    await platform.goOffline(simulated.id);
    await eventually(async () => expect((await listStreams())[0]?.ended_at).not.toBeNull(), afterPolling);
  }

  describe('2.1 event record', () => {
    const common: Fields = [
      [text, 'event_type'],
      [/^\{.+\}$/, 'event_data'],
    ];
    const stored: Fields = [...common, [uuid, 'id'], [storedTime, 'created'], [/^"platform"$/, 'origin']];
    const findReceived = () => listEvents(`event_type=stream-offline&user_id=${simulated.id}`);

    describeFields('an event added by POST', async () => [await post<EventRecord>(eventsPath, newEvent)], [
      ...stored,
      [absent, 'event_id'],
      [/^"Mine"$/, 'event_source'],
    ]);
    describeFields('events received from the platform', findReceived, [
      ...stored,
      [text, 'event_id'],
      [/^"PlatformSub"$/, 'event_source'],
    ]);
    describeFields('a test event', async () => [await postTest('stream-offline')], [
      ...common,
      [absent, 'id'],
      [uuid, 'event_id'],
      [/^"TestCall"$/, 'event_source'],
      [testTime, 'created'],
      [/^"test"$/, 'origin'],
    ]);

    it('has the fields of stream-offline in event_data', async () => {
      for (const { event_data } of await findReceived())
        expect(event_data).toMatchObject({
          broadcaster_user_id: simulated.id,
          broadcaster_user_name: simulated.display_name,
          broadcaster_user_login: simulated.login,
        });
    });
  });

  describe('2.2 streamer', () => {
    describeFields('all streamers', () => get<StreamerRecord[]>(streamersPath), [
      [uuid, 'id'],
      [text, 'platform_username', 'platform_id'],
      [boolean, 'streaming', 'disabled'],
      [storedTime, 'created', 'updated'],
    ]);
  });

  describe('2.3 stream', () => {
    const common: Fields = [
      [uuid, 'id'],
      [text, 'stream_id', 'user_id', 'user_login', 'user_name', 'game_id', 'game_name', 'title'],
      [/^"live"$/, 'type'],
      [integer, 'viewer_count'],
      [storedTime, 'started_at'],
      [/^"[a-z]{2}(-[a-z]+)?"$/, 'language'],
      [/^"http.*\{width\}.*\{height\}.*"$/, 'thumbnail_url'],
      [absent, 'tag_ids'],
      [boolean, 'is_mature'],
    ];

    describeFields('a running stream', () => Promise.resolve([runningStream]), [
      ...common,
      [absent, 'ended_at'],
    ]);
    describeFields('ended streams', listStreams, [...common, [storedTime, 'ended_at']]);
  });

  describe('2.4 scope', () => {
    describeFields('all scopes', () => get<object[]>(scopesPath), [
      [uuid, 'id'],
      [/^"\w+:\w+(:\w+)?"$/, 'scope'],
      [boolean, 'required'],
    ]);
  });

  describe('2.5 API endpoint definition', () => {
    describeFields('all API endpoint definitions', () => get<object[]>(apiEndpointsPath), [
      [uuid, 'id'],
      [text, 'description'],
      [/^"\w[\w/]*"$/, 'endpoint'],
      [/^"[A-Z]+"$/, 'method'],
      [url, 'reference_url'],
      [/^"(OA|AP)"$/, 'token_type'],
      [new RegExp(`${uuid.source}|${absent.source}`), 'scope'],
    ]);
  });

  describe('2.6 pagination envelope', () => {
    // The document leaves the page size open. These queries end so that one more parameter can follow.
    const events = `${eventsPath}?event_type=stream-offline&`;
    const streams = `${streamersPath}/<STREAMER>/streams?`;
    const envelope: Fields = [
      [link, 'next'],
      [absent, 'previous'],
      [/^\[.+\]$/, 'results'],
    ];

    describeFields('the event list', async () => [await get<EventPage>(`${events}page_size=1`)], envelope);
    describeFields('the stream list', async () => [await get<StreamPage>(`${streams}page_size=1`)], [
      ...envelope,
      [/^2$/, 'count'],
    ]);

    /** Returns the pages from `start` to the end. */
    const follow = async (start: string | null, direction: 'next' | 'previous'): Promise<EventPage[]> => {
      if (start === null) return [];
      const page = await get<EventPage>(start);
      for (const found of [page.next, page.previous])
        if (found !== null) expect(JSON.stringify(found)).toMatch(link);
      return [page, ...(await follow(page[direction], direction))];
    };

    it.each([events, streams])('has links that clients follow to the end and back: %s', async (list) => {
      const results = (pages: EventPage[]) => pages.flatMap((page) => page.results);
      const there = await follow(`${list}page_size=1`, 'next');
      const back = await follow(there.at(-1)?.previous ?? null, 'previous');

      expect(there.length).toBeGreaterThan(1);
      expect(results(there)).toEqual((await get<EventPage>(list)).results);
      expect(results(back)).toEqual(results(there.slice(0, -1)).reverse());
    });
  });

  describe('3 states', () => {
    it('show a streamer as streaming while a stream is running', async () => {
      expect([liveStreamer.streaming, runningStream.ended_at]).toEqual([true, null]);
      await eventually(async () =>
        expect(await get(`${streamersPath}/<STREAMER>`)).toMatchObject({ streaming: false }),
      );
    });
  });

  describe('4 endpoints', () => {
    it.each(endpoints.filter(([method]) => method === 'GET'))(
      'take a trailing slash: %s %s',
      async (_, path) => expect(await get(`${path}/`)).toEqual(await get(path)),
    );
  });

  describe('4.1 event list', () => {
    it.each(eventPaths)('POST %s returns the created event, as the list does', async (path) => {
      const event = { ...newEvent, event_type: uniqueType() };
      const created = await post<EventRecord>(path, event);

      expect(created).toMatchObject({ ...event, event_id: null, origin: 'platform' });
      expect(await listEvents(`event_type=${event.event_type}`, path)).toEqual([created]);
    });

    it.each(eventPaths)('POST %s, with a type and /test, stores a new test event', async (path) => {
      const type = uniqueType();
      const [first, second] = [await postTest(type, path), await postTest(type, path)];

      expect(first).toMatchObject({ id: null, event_type: type, event_data: broadcaster, origin: 'test' });
      expect(second.event_id).not.toBe(first.event_id);
      expect(await listEvents(`event_type=${type}`, path)).toEqual([second, first]);
    });

    it('sends a test event to the application', async () => {
      const path = `${streamPath}?event_type=${uniqueType()}`;
      const application = await LiveStream.open(stack.url, token, { path });
      await eventually(() => expect(application.parts).not.toEqual([]));
      const created = await postTest(path.split('=')[1]!);

      await eventually(() => expect(application.events).toMatchObject([created]));
      application.close();
    });

    describe('filters', () => {
      const emil = { user_id: 'u1', user_name: 'Emil' };
      const zoe = { user_id: 'u2', user_name: 'Zoe' };
      const reward = { id: 'reward-1' };
      const adaToBea = { from_broadcaster_user_name: 'Ada', to_broadcaster_user_name: 'Bea' };
      const beaToAda = { from_broadcaster_user_name: 'Bea', to_broadcaster_user_name: 'Ada' };

      beforeAll(async () => {
        for (const [event_type, event_data] of [
          ['follow', { name: 'follow', ...emil }],
          ['redemption', { name: 'of Emil', ...emil, reward }],
          ['redemption', { name: 'of Zoe', ...zoe, reward }],
          ['raid', { name: 'to Bea', ...adaToBea }],
          ['raid', { name: 'to Ada', ...beaToAda }],
          ['shoutout', { name: 'no raid', ...adaToBea }],
        ])
          await post(eventsPath, { ...newEvent, event_type, event_data });
      });

      it.each([
        ['event_type=redemption', ['of Zoe', 'of Emil']],
        ['user_id=u1', ['of Emil', 'follow']],
        ['user_name=Emil', ['of Emil', 'follow']],
        ['reward_id=reward-1', ['of Zoe', 'of Emil']],
        ['raid_from=Ada', ['to Bea']],
        ['raid_to=Ada', ['to Ada']],
        ['event_type=redemption&user_id=u1', ['of Emil']],
        ['event_type=redemption&user_id=u2&user_name=Zoe&reward_id=reward-1', ['of Zoe']],
        ['user_id=u1&user_name=Zoe', []],
        ['event_type=raid&raid_from=Bea', ['to Ada']],
        ['raid_from=Ada&raid_to=Bea', ['to Bea']],
        ['raid_from=Ada&raid_to=Ada', []],
      ])('%s finds, most recent first: %j', async (query, names) => {
        for (const path of eventPaths)
          expect((await listEvents(query, path)).map(({ event_data }) => event_data.name)).toEqual(names);
      });
    });
  });

  describe('4.2 heartbeat', () => {
    it.each(withAndWithoutSlash('/api/v1/heartbeat'))('GET %s needs no authentication', async (path) => {
      const { status, json } = await stack.request('GET', path, { token: null });
      expect([status, json]).toEqual([200, { message: 'pong' }]);
    });
  });

  describe('4.3 streamers', () => {
    it.each([
      [streamersPath, false],
      [`${streamersPath}/`, true],
    ])('POST %s resolves the platform_id, and accepts streaming and disabled: %s', async (path, isSet) => {
      const { id: platform_id, login: platform_username } = await platform.addUser();
      const body = { platform_username, streaming: isSet, disabled: isSet };
      const created = await post<StreamerRecord>(path, body);

      expect(created).toMatchObject({ platform_username, platform_id, disabled: isSet });
      expect(await get(`${streamersPath}/${created.id}`)).toEqual(created);
      expect(await get(streamersPath)).toContainEqual(created);
    });

    it('GET of streams returns the streams of the streamer, and streams/latest the latest of them', async () => {
      const streams = await listStreams();

      expect(streams).toMatchObject(
        ['Second', 'First'].map((title) => ({ title, user_id: simulated.id, user_login: simulated.login })),
      );
      expect(await get(`${streamersPath}/<STREAMER>/streams/latest`)).toEqual(streams[0]);
    });
  });

  describe.each([
    ['4.4 scopes', scopesPath, newScope],
    ['4.5 API endpoint definitions', apiEndpointsPath, newApiEndpoint],
  ])('%s', (_, path, body) => {
    it.each(withAndWithoutSlash(path))('POST %s permits duplicates', async (form) => {
      const first = await post<{ id: string }>(form, body);
      const second = await post<{ id: string }>(form, body);

      expect([first, second]).toEqual([first, second].map(({ id }) => ({ ...body, id })));
      expect(second.id).not.toBe(first.id);
      expect(await get(`${path}/${second.id}`)).toEqual(second);
      expect(await get(path)).toEqual(expect.arrayContaining([first, second]));
    });
  });

  describe('4.5 the scope of an API endpoint definition', () => {
    it('is the id of a scope', async () => {
      const body = { ...newApiEndpoint, token_type: 'AP', scope: ids.get('<SCOPE>') };
      expect(await post(apiEndpointsPath, body)).toMatchObject(body);
    });
  });

  describe('5 authentication', () => {
    it.each(endpoints)('is required: %s %s', async (method, path) => {
      const wrong = ['', 'Token', `Token ${'0'.repeat(40)}`, `Bearer ${token}`, token];
      for (const headers of [{}, ...wrong.map((authorization) => ({ authorization }))])
        for (const form of withAndWithoutSlash(withIds(path))) {
          const options = { token: null, headers, ...(method === 'POST' && { body: {} }) };
          const { status, headers: answered } = await stack.request(method, form, options);
          const found = { headers, status, challenge: answered.get('www-authenticate') };
          expect(found).toEqual({ headers, status: 401, challenge: 'Token' });
        }
    });

    it.each(['Token ', 'Token    '])('is the token after "%s"', async (before) => {
      const options = { token: null, headers: { authorization: before + token } };
      expect((await stack.request('GET', eventsPath, options)).status).toBe(200);
    });

    it.each(withAndWithoutSlash('/api-token-auth'))(
      'POST %s returns the registration’s token',
      async (path) => {
        const { status, json } = await stack.request('POST', path, { token: null, body: login });
        expect([status, json]).toEqual([200, { token }]);
      },
    );
  });
});
