import { jetstreamManager } from '@nats-io/jetstream';
import { eventsStreamName, parseStreamDescription } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, newEvent, uniqueType, type EventPage } from './api.js';
import { LiveSocket, socketPath } from './live-clients.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

type Fixture = [name: string, type: string, data: Record<string, unknown>];

const bea = { broadcaster_user_id: 'b1', broadcaster_user_login: 'bea', broadcaster_user_name: 'Bea' };
const emil = { user_id: 'U1', user_login: 'emil', user_name: 'Émil' };
const raid = {
  from_broadcaster_user_id: 'r1',
  from_broadcaster_user_name: 'Raider',
  to_broadcaster_user_id: 'b1',
  to_broadcaster_user_name: 'Bea',
};

/** The expectations below list events by `event_data.name`. */
const fixtures: Fixture[] = [
  ['follow', 'channel-follow', { ...emil, ...bea }],
  ['chat', 'channel-chat-message', { chatter_user_id: 'u1', chatter_user_name: 'ÉMIL', ...bea }],
  ['bot', 'bot-message', { data: { message: { user_id: 'u1', user_name: 'émil' } }, ...bea }],
  ['held', 'automod-message-hold', { message: { user_id: 'u1', user_name: 'émil', text: 'x' }, ...bea }],
  ['whisper', 'user-whisper-message', { from_user_id: 'u1', from_user_name: 'Émil', to_user_id: 'b1' }],
  [
    'user before chatter',
    'x',
    { chatter_user_id: 'u1', chatter_user_name: 'émil', user_id: 'u2', user_name: 'Zoe' },
  ],
  ['anonymous', 'channel-cheer', { user_id: null, user_login: null, user_name: null, ...bea, bits: 5 }],
  ['offline', 'stream-offline', bea],
  ['raid', 'channel-raid', raid],
  ['short raid', 'raid', { ...raid, to_broadcaster_user_name: 'Otto', to_broadcaster_user_id: 'o1' }],
  ['shoutout', 'channel-shoutout-create', { ...raid, ...bea }],
  ['redemption', 'redeemed', { user_id: 'u3', user_name: 'Ada', reward: { id: 'Reward-1' }, ...bea }],
  ['long name', 'x', { user_id: 'u4', user_name: 'n'.repeat(256) }],
  ['longest name', 'x', { user_id: 'u5', user_name: 'N'.repeat(255) }],
];

const byUser1 = ['follow', 'chat', 'bot', 'held', 'whisper'];

describe('event filters', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack();
    for (const [name, event_type, data] of fixtures) {
      const body = eventBody({ event_type, event_data: { name, ...data } });
      await stack.request('POST', eventsPath, { body });
    }
    await stack.request('POST', `${eventsPath}/stream-offline/test`, { body: { name: 'test', ...bea } });
    await stack.request('POST', eventsPath, {
      body: eventBody({ event_source: ' Mine', event_type: 'x', event_data: { name: 'mine' } }),
    });
    await untilOnStream(fixtures.length + 2);
  }, startLimitMs);

  afterAll(() => stack.stop());

  const settled = { timeoutMs: 60_000 };

  /**
   * Waits until the events are on the stream and every gateway has read them. A gateway sends `ready` when the client has all events in the
   * gateway's memory, even if the stream has more.
   */
  const untilOnStream = async (count: number): Promise<void> => {
    await eventually(async () => expect(await stack.readStream()).toHaveLength(count), settled);
    const after = await findBeginning();
    for (const gateway of stack.urls) {
      const socket = await LiveSocket.ready(gateway, { token: stack.ownerToken, after });
      await eventually(() => expect(socket.events).toHaveLength(count), settled);
      await socket.close();
    }
  };

  /** Returns the position before the first event. */
  const findBeginning = async (): Promise<string> => {
    const manager = await jetstreamManager(stack.subscriber, { checkAPI: false, timeout: 20_000 });
    const { config } = await manager.streams.info(eventsStreamName);
    return `${parseStreamDescription(config.description ?? '')?.epoch}-0-00000000`;
  };

  const list = (query: string) => stack.request<EventPage>('GET', `${eventsPath}?${query}`);

  const namesFor = async (query: string): Promise<unknown[]> => {
    const { status, json } = await list(query);
    expect(status).toBe(200);
    return json.results.map((event) => event.event_data.name).reverse();
  };

  /** Returns the names that a client receives from the beginning of the stream. Stream order can differ from list order. */
  const liveNamesFor = async (query: string): Promise<unknown[]> => {
    const first = { token: stack.ownerToken, after: await findBeginning() };
    const socket = await LiveSocket.ready(stack.nextUrl, first, `${socketPath}?${query}`);
    await socket.close();
    return socket.events.map((event) => event.event_data.name);
  };

  it.each([
    ['event_type=stream-offline', ['offline', 'test']],
    ['user_id=U1', byUser1],
    ['user_id=u2', ['user before chatter']],
    ['user_name=%C3%A9MIL', byUser1],
    [`user_name=${'n'.repeat(255)}`, ['longest name']],
    ['reward_id=REWARD-1', ['redemption']],
    ['raid_from=RAIDER', ['raid', 'short raid']],
    ['raid_to=bea', ['raid']],
    [
      'broadcaster_user_id=b1',
      ['follow', 'chat', 'bot', 'held', 'anonymous', 'offline', 'shoutout', 'redemption', 'test'],
    ],
    ['event_types=%20raid%20,,channel-raid,nothing', ['raid', 'short raid']],
    [
      'channel_id=b1',
      ['follow', 'chat', 'bot', 'held', 'anonymous', 'offline', 'raid', 'shoutout', 'redemption', 'test'],
    ],
    ['origin=test', ['test']],
    ['origin=platform&event_type=stream-offline', ['offline']],
    ['event_source=%20Mine', ['mine']],
  ])('match %s, in the list and live', async (query, names) => {
    expect(await namesFor(query)).toEqual(names);
    expect((await liveNamesFor(query)).sort()).toEqual([...names].sort());
  });

  it.each([
    ['broadcaster_user_id=b1&user_id=u1', ['follow', 'chat', 'bot', 'held']],
    ['reward_id=reward-1&user_name=ada&event_type=redeemed&broadcaster_user_id=b1', ['redemption']],
    ['event_types=channel-raid,stream-offline,raid&channel_id=b1', ['offline', 'raid', 'test']],
    ['channel_id=b1&raid_from=raider&user_id=r1', ['raid']],
  ])('narrow the results together, in the list and live: %s', async (query, names) => {
    expect(await namesFor(query)).toEqual(names);
    expect((await liveNamesFor(query)).sort()).toEqual([...names].sort());
  });

  describe('since and until', () => {
    const type = uniqueType('timed');
    const second = Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000;
    const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();
    /** The first instant, written in a time zone two hours ahead. */
    const ahead = iso(second + 7_200_000).slice(0, 19);

    beforeAll(async () => {
      const offsets = [-1, 0, 1, 999, 1_000];
      const events = offsets.map((offset) =>
        newEvent({ time: second + offset, eventType: type, eventData: `{"name":${offset}}` }),
      );
      await stack.storeEvents(events);
      await untilOnStream(fixtures.length + 2 + events.length);
    }, startLimitMs);

    it.each([
      [`since=${ahead}%2B02:00`, [0, 1, 999, 1_000]],
      [`since=${iso(second)}&until=${iso(second + 1_000)}`, [0, 1, 999]],
      [`since=${iso(second + 1)}&until=${iso(second)}`, []],
    ])('limit created, in the list and live: %s', async (query, names) => {
      expect(await namesFor(`event_type=${type}&${query}`)).toEqual(names);
      expect(new Set(await liveNamesFor(`event_type=${type}&${query}`))).toEqual(new Set(names));
    });
  });
});
