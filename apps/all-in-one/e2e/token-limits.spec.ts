import { randomUUID } from 'node:crypto';
import { eventually } from '@stream-events/testing';
import fc from 'fast-check';
import { eventsPath, newEvent, type EventPage, type EventRecord } from './api.js';
import { LiveSocket, LiveStream } from './live-clients.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface Limits {
  event_types?: string[];
  channel_ids?: string[];
}

/** An event with its expected channels. */
interface Sample {
  eventType: string;
  channels: string[];
}

const types = ['channel-follow', 'channel-cheer', 'channel-raid', 'stream-offline'];
const channels = ['1', '2', '3', '4'];

// Only raids have two channels. All other events have one or none.
const samples: Sample[] = types.flatMap((eventType) =>
  eventType === 'channel-raid'
    ? channels.flatMap((from) => channels.map((to) => ({ eventType, channels: [from, to] })))
    : [...channels.map((channel) => ({ eventType, channels: [channel] })), { eventType, channels: [] }],
);

const subset = (values: string[]) => fc.subarray(values, { minLength: 1 });
const limitsToTry = fc.sample(
  fc.oneof(
    fc.record({ event_types: subset(types) }),
    fc.record({ channel_ids: subset(channels) }),
    fc.record({ event_types: subset(types), channel_ids: subset(channels) }),
  ),
  8,
);

/** Reimplements the visibility rule, to check the service's own implementation. */
function isVisible({ eventType, channels: own }: Sample, { event_types, channel_ids }: Limits): boolean {
  if (event_types && !event_types.includes(eventType)) return false;
  return !channel_ids || own.some((channel) => channel_ids.includes(channel));
}

function dataOf({ eventType, channels: [one, two] }: Sample): object {
  if (eventType === 'channel-raid') return { from_broadcaster_user_id: one, to_broadcaster_user_id: two };
  return one === undefined ? { user_id: '9' } : { broadcaster_user_id: one, user_id: '9' };
}

describe('a token that is limited to event types and channels', () => {
  let stack: Stack;
  let events: (Sample & { id: string; eventId: string })[];
  let start: string;

  beforeAll(async () => {
    stack = await startStack();
    const probe = await LiveSocket.ready(stack.url, { token: stack.ownerToken });
    start = await eventually(() => {
      if (probe.position === undefined) throw new Error('no position yet');
      return probe.position;
    });
    events = samples.map((sample) => ({ ...sample, id: '', eventId: randomUUID() }));
    const stored = events.map(({ eventType, eventId, ...sample }) =>
      newEvent({ eventType, eventId, eventData: JSON.stringify(dataOf({ ...sample, eventType })) }),
    );
    await stack.storeEvents(stored);
    events = events.map((event, index) => ({ ...event, id: stored[index]!.id }));
    await eventually(() => expect(probe.events).toHaveLength(events.length));
  }, startLimitMs);

  afterAll(() => stack.stop());

  const createToken = async (limits: Limits): Promise<string> => {
    const body = { name: 'limited', scopes: ['events:read', 'events:live'], ...limits };
    return (await stack.request<{ key: string }>('POST', '/api/v1/tokens', { body })).json.key;
  };

  const visibleIds = (limits: Limits): string[] =>
    events.filter((event) => isVisible(event, limits)).map(({ id }) => id);

  /** Follows the list to its last page and returns all ids. */
  async function walk(token: string, query = ''): Promise<string[]> {
    const ids: string[] = [];
    let path: string | null = `${eventsPath}?page_size=3${query}`;
    while (path !== null) {
      const { status, json }: { status: number; json: EventPage } = await stack.request<EventPage>(
        'GET',
        path,
        {
          token,
        },
      );
      expect(status).toBe(200);
      ids.push(...json.results.map(({ id }) => id!));
      path = json.next && new URL(json.next).pathname + new URL(json.next).search;
    }
    return ids;
  }

  const sorted = (ids: (string | null)[]): (string | null)[] => [...ids].sort();

  it.each(limitsToTry.map((limits) => [JSON.stringify(limits), limits] as const))(
    'sees nothing else in lists, by id, in exports, and live: %s',
    async (_, limits) => {
      const token = await createToken(limits);
      const visible = visibleIds(limits);

      expect(sorted(await walk(token))).toEqual(sorted(visible));
      for (const type of types) {
        const ofType = events.filter(({ id, eventType }) => eventType === type && visible.includes(id));
        expect(sorted(await walk(token, `&event_type=${type}`))).toEqual(sorted(ofType.map(({ id }) => id)));
      }

      await Promise.all(
        events.map(async ({ id, eventId }) => {
          for (const name of [id, eventId]) {
            const { status } = await stack.request('GET', `${eventsPath}/${name}`, { token });
            expect(status).toBe(visible.includes(id) ? 200 : 404);
          }
        }),
      );

      const { text } = await stack.request('GET', `${eventsPath}/export`, { token });
      const exported = text.split('\n').filter((line) => line !== '');
      expect(sorted(exported.map((line) => (JSON.parse(line) as EventRecord).id))).toEqual(sorted(visible));

      // Both clients resume before all events. After these events, they receive only replays.
      const socket = await LiveSocket.ready(stack.url, { token, after: start });
      const stream = await LiveStream.open(stack.urls[1]!, token, { after: start });
      await eventually(() => {
        expect(sorted(socket.events.map(({ id }) => id))).toEqual(sorted(visible));
        expect(sorted(stream.events.map(({ id }) => id))).toEqual(sorted(visible));
      });

      await Promise.all(events.map(({ id }) => stack.request('POST', `${eventsPath}/${id}/replay`)));
      await eventually(() =>
        expect(sorted(socket.events.slice(visible.length).map(({ id }) => id))).toEqual(sorted(visible)),
      );
      expect(sorted(stream.events.map(({ id }) => id))).not.toContain(
        events.find(({ id }) => !visible.includes(id))?.id,
      );
      stream.close();
      await socket.close();
    },
    startLimitMs,
  );
});
