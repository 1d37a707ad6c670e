import type { NewEvent } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { eventually } from '@stream-events/testing';
import { randomUUID } from 'node:crypto';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import {
  eventBody,
  eventsPath,
  newEvent,
  problemType,
  uniqueType,
  type EventPage,
  type EventRecord,
  type Problem,
} from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface Replay {
  id: string;
  status: string;
  event_type?: string;
  replayed: number;
  replayed_until: string | null;
  percent: number;
  finished: string | null;
}

const replaysPath = '/api/v1/replays';
const unknownId = '01999999-9999-7999-8999-999999999999';
const patiently = { timeoutMs: 60_000 };

let stack: Stack;
let listener: NatsConnection;
let messages: Msg[] = [];

beforeAll(async () => {
  stack = await startStack();
  listener = await connectNats({ urls: [stack.nats.urlFor('gateway')], name: 'test-listener' });
  listener.subscribe('live.replay.>', { callback: (_, message) => void messages.push(message) });
  await listener.flush();
}, startLimitMs);

afterAll(async () => {
  await listener.close();
  await stack.stop();
});

/** Returns the replays of this event type, in the order of arrival. */
const sentOf = (type: string): Msg[] =>
  messages.filter((message) => message.json<EventRecord>().event_type === type);

const replayEvent = (id: string) => stack.request<EventRecord>('POST', `${eventsPath}/${id}/replay`);

const create = async (type: string): Promise<EventRecord> => {
  const { json } = await stack.request<EventRecord>('POST', eventsPath, {
    body: eventBody({ event_type: type }),
  });
  return json;
};

describe('POST /api/v1/platform-events/<id>/replay', () => {
  beforeEach(() => {
    messages = [];
  });

  it('sends an event again, unchanged except for its origin', async () => {
    const type = uniqueType('a.type');
    const event = await create(type);

    const answer = await replayEvent(event.id ?? '');

    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.json).toEqual({ ...event, origin: 'replay' });
    const [message] = await eventually(() => {
      expect(sentOf(type)).toHaveLength(1);
      return sentOf(type);
    });
    expect(message?.subject).toBe(`live.replay.${type.replace('.', '%2E')}.4711`);
    expect(message?.string()).toBe(answer.text);
    expect(message?.headers?.get('Nats-Msg-Id')).toBe(event.id);
    expect(message?.headers?.has('Connection-Name')).toBe(false);
  });

  it('reaches only the connections with a name, if the body has one', async () => {
    const event = await create(uniqueType());
    const path = `${eventsPath}/${event.id}/replay`;

    for (const [index, body] of [{ connection: ' über ' }, { ...event, connection: null }].entries()) {
      expect(await stack.request('POST', path, { body })).toMatchObject({ status: 200 });
      // Two gateways send the replays. NATS could reorder replays that are in flight together.
      await eventually(() => expect(sentOf(event.event_type)).toHaveLength(index + 1));
    }
    const refused = await stack.request<Problem>('POST', path, { body: { conection: 'x', connection: '' } });

    expect([refused.status, Object.keys(refused.json.errors ?? {})]).toEqual([
      400,
      expect.arrayContaining(['connection', 'conection']),
    ]);
    expect(sentOf(event.event_type).map(({ headers }) => headers?.get('Connection-Name'))).toEqual([
      encodeURIComponent('über'),
      '',
    ]);
  });

  it('finds a test event by its event_id, and leaves its id null', async () => {
    const type = uniqueType();
    const test = await stack.request<EventRecord>('POST', `${eventsPath}/${type}/test`, { body: { a: 1 } });

    const answer = await replayEvent(test.json.event_id ?? '');

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ ...test.json, id: null, origin: 'replay' });
    await eventually(() => expect(sentOf(type)).toHaveLength(1));
    // Consumers deduplicate by this header, so it must contain the id of the stored event.
    const [stored] = await stack.query<{ id: string }>('SELECT id FROM events.events WHERE event_type = $1', [
      type,
    ]);
    expect(sentOf(type)[0]?.headers?.get('Nats-Msg-Id')).toBe(stored?.id);
  });

  it.each([randomUUID(), 'not a UUID/ü'])('finds a platform event by its event_id: %s', async (eventId) => {
    const event = newEvent({ eventType: uniqueType(), eventId });
    await stack.storeEvents([event]);
    const path = `${eventsPath}/${encodeURIComponent(eventId)}`;

    expect(await stack.request('POST', `${path}/replay`)).toMatchObject({
      status: 200,
      json: { id: event.id, event_id: eventId, origin: 'replay' },
    });
    expect(await stack.request('GET', path)).toMatchObject({ status: 200, json: { id: event.id } });
  });

  it('stores nothing, and publishes nothing on EVENTS', async () => {
    const event = await create(uniqueType());
    await stack.waitUntilPublished();
    const before = [await stack.count('events.events'), (await stack.readStream()).length];

    for (let times = 0; times < 5; times += 1) await replayEvent(event.id ?? '');

    await eventually(() => expect(sentOf(event.event_type)).toHaveLength(5));
    expect([await stack.count('events.events'), (await stack.readStream()).length]).toEqual(before);
    const page = await stack.request<EventPage>('GET', `${eventsPath}?event_type=${event.event_type}`);
    expect(page.json.results).toEqual([event]);
  });

  it.each([
    [unknownId, 404],
    ['a%00b', 404],
    ['%ED%A0%80', 400], // half a surrogate pair, which is not valid UTF-8
  ])('responds to %s with %d', async (id, status) => {
    const answer = await stack.request<Problem>('POST', `${eventsPath}/${id}/replay`);

    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(problemType);
  });
});

describe('/api/v1/replays', () => {
  beforeEach(() => {
    messages = [];
  });

  const begin = (body: Record<string, unknown>) => stack.request<Replay>('POST', replaysPath, { body });
  const show = (id: string) => stack.request<Replay>('GET', `${replaysPath}/${id}`);
  const remove = (id: string) => stack.request('DELETE', `${replaysPath}/${id}`);
  const since = '2020-01-01T00:00:00Z';

  /** Stores events of a unique type, one per second starting at `since`. */
  async function store(count: number): Promise<{ type: string; events: NewEvent[] }> {
    const type = uniqueType();
    const events = Array.from({ length: count }, (_, index) =>
      newEvent({ time: Date.parse(since) + index * 1_000, eventType: type }),
    );
    await stack.storeEvents(events);
    return { type, events };
  }

  const sentIds = (type: string): (string | undefined)[] =>
    sentOf(type).map(({ headers }) => headers?.get('Nats-Msg-Id'));

  async function untilEnded(id: string, timeoutMs = patiently.timeoutMs): Promise<Replay> {
    return eventually(
      async () => {
        const { json } = await show(id);
        expect(json.status).not.toBe('running');
        return json;
      },
      { timeoutMs },
    );
  }

  it('replay a range, oldest first, and every gateway shows the progress', async () => {
    const { type, events } = await store(60);
    const range = { since: '2020-01-01T00:00:10+0000', until: '2020-01-01T00:00:50+0000' };

    const begun = await begin({ event_type: type, ...range, rate: 100, connection: 'my overlay' });

    expect(begun.status).toBe(201);
    expect(begun.headers.get('location')).toBe(`${replaysPath}/${begun.json.id}`);
    expect(begun.json).toEqual({
      id: expect.any(String),
      status: 'running',
      event_type: type,
      ...range,
      rate: 100,
      connection: 'my overlay',
      replayed: 0,
      replayed_until: null,
      percent: 0,
      created: expect.stringMatching(/\+0000$/),
      finished: null,
      created_by: 'owner',
      error: null,
    });
    expect(await untilEnded(begun.json.id)).toEqual({
      ...begun.json,
      status: 'done',
      replayed: 40,
      replayed_until: range.until,
      percent: 100,
      finished: expect.stringMatching(/\+0000$/),
    });
    await eventually(() => expect(sentIds(type)).toEqual(events.slice(10, 50).map(({ id }) => id)));
    expect(sentOf(type)[0]?.headers?.get('Connection-Name')).toBe('my%20overlay');
    expect(sentOf(type)[0]?.json()).toMatchObject({ origin: 'replay', id: events[10]?.id });
    for (const gateway of stack.urls) {
      const list = await stack.request<Replay[]>('GET', replaysPath, { gateway });
      expect(list.json[0]).toMatchObject({ id: begun.json.id, status: 'done' });
    }
  });

  it('are canceled by the first DELETE, deleted by the second, and then unknown', async () => {
    const { type } = await store(200);
    // At this rate, the replay would take 50 s. It still runs when the test cancels it.
    const { json } = await begin({ event_type: type, since, rate: 4 });
    await eventually(() => expect(sentOf(type).length).toBeGreaterThan(2));

    expect(await remove(json.id)).toMatchObject({ status: 204, text: '' });
    const { json: cancelled } = await show(json.id);
    expect(cancelled).toMatchObject({ status: 'cancelled', finished: expect.any(String) });
    expect(cancelled.percent).toBeLessThan(100);
    expect((await remove(json.id)).status).toBe(204);
    expect((await show(json.id)).status).toBe(404);
    expect((await remove(json.id)).status).toBe(404);
  });

  it.each([unknownId, 'not-a-uuid', `${unknownId}0`, 'a%00b'])(
    'respond with 404 to the id %s',
    async (id) => {
      for (const answer of [await show(id), await remove(id)]) expect(answer).toMatchObject({ status: 404 });
    },
  );
});
