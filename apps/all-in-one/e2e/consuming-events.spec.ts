import { jest } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { jetstreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import {
  connectionNameHeader,
  eventsStreamName,
  printReplayedEventRecord,
  replaySubject,
} from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, newEvent, uniqueType } from './api.js';
import { connectToEvents } from './consuming/connect-to-events.js';
import type { EventRecord } from './consuming/event-record.js';
import { followDurably } from './consuming/follow-durably.js';
import { followLive } from './consuming/follow-live.js';
import { followReplays } from './consuming/follow-replays.js';
import { RaidsModule } from './consuming/raids.module.js';
import { RaidsService } from './consuming/raids.service.js';
import { RecentIds } from './consuming/recent-ids.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

// Test limit that covers all waits of a test. A lost stream is recreated within seconds; the examples read it seconds later.
const limitMs = 400_000;
const settled = { timeoutMs: 60_000 };

/** Records the events that an example handles. */
class Received {
  readonly types: string[] = [];
  readonly ids: string[] = [];
  readonly handle = (event: EventRecord, id: string): void => {
    this.types.push(event.event_type);
    this.ids.push(id);
  };
}

describe('the examples of docs/events.md', () => {
  let stack: Stack;
  /** Connects like your own service would, as user `subscriber`. */
  let subscriber: NatsConnection;
  /** Connects with the permissions of the events service. */
  let operator: NatsConnection;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1 });
    const { host, password } = new URL(stack.nats.urlFor('subscriber'));
    subscriber = await connectToEvents(host, password);
    operator = await connectNats({
      urls: [stack.nats.urlFor('events')],
      name: 'test-operator',
      account: 'EVENTS',
    });
  }, startLimitMs);

  afterAll(async () => {
    await Promise.all([subscriber.close(), operator.close()]);
    await stack.stop();
  });

  const store = async (type: string, broadcaster = '4711'): Promise<string> => {
    const body = eventBody({ event_type: type, event_data: { broadcaster_user_id: broadcaster } });
    const { status, json, text } = await stack.request<EventRecord>('POST', eventsPath, { body });
    if (status !== 201) throw new Error(`not stored: ${status} ${text}`);
    return json.id ?? '';
  };

  const countConsumers = async (filter: string): Promise<number> => {
    const { consumers } = await jetstreamManager(operator);
    const infos = await consumers.list(eventsStreamName).next();
    return infos.filter(({ config }) =>
      [config.filter_subject, ...(config.filter_subjects ?? [])].includes(filter),
    ).length;
  };

  /** Runs an example until the test is done. */
  const during = async (run: (signal: AbortSignal) => Promise<void>, test: () => Promise<void>) => {
    const ending = new AbortController();
    const running = run(ending.signal);
    try {
      await test();
    } finally {
      ending.abort();
      await running;
      await subscriber.flush(); // after this, the server delivers nothing more
    }
  };

  it('follow live: only new events, by type and broadcaster', async () => {
    const type = uniqueType('raid');
    await store(type);
    await stack.waitUntilPublished();
    const ofType = new Received();
    const ofChannel = new Received();
    const filters = [`events.platform.${type}.>`, 'events.platform.*.1234'] as const;

    await during(
      (signal) =>
        Promise.all([
          followLive(subscriber, { filter: filters[0], handle: ofType.handle, signal }),
          followLive(subscriber, { filter: filters[1], handle: ofChannel.handle, signal }),
        ]).then(() => undefined),
      async () => {
        await eventually(
          async () => expect(await Promise.all(filters.map(countConsumers))).toEqual([1, 1]),
          settled,
        );
        const ids = [await store(type), await store(type, '1234'), await store('other', '1234')];
        await eventually(() => {
          expect(ofType.ids).toEqual(ids.slice(0, 2));
          expect(ofChannel.ids).toEqual(ids.slice(1));
        }, settled);
      },
    );
  });

  it('follow durably: events from before the start and from pauses, and failed events again', async () => {
    const type = uniqueType('follow');
    const options = { name: type, filter: `events.platform.${type}.>` };
    const received = new Received();
    const ids = [await store(type), await store(type)];
    let failures = 1;
    const handle = (event: EventRecord, id: string): void => {
      if (id === ids[1] && (failures -= 1) >= 0) throw new Error('not now');
      received.handle(event, id);
    };
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);

    await during(
      (signal) => followDurably(subscriber, { ...options, handle, signal }),
      () => eventually(() => expect(received.ids).toEqual(ids), settled),
    );
    const failed = warn.mock.calls.filter(([text]) => String(text).includes('cannot handle an event'));
    expect(failed).toHaveLength(1);
    warn.mockRestore();
    ids.push(await store(type));
    await stack.waitUntilPublished();
    expect(received.ids).toHaveLength(2);

    await during(
      (signal) => followDurably(subscriber, { ...options, handle, signal }),
      () => eventually(() => expect(received.ids).toEqual(ids), settled),
    );
  });

  it('pass raids to a Nest service, each once, and stop with the application', async () => {
    const { host, password } = new URL(stack.nats.urlFor('subscriber'));
    process.env.EVENTS_SERVER = host;
    process.env.EVENTS_PASSWORD = password;
    const id = await store('channel-raid');

    const app = await NestFactory.createApplicationContext(RaidsModule, { logger: false });
    try {
      await eventually(() => expect([...app.get(RaidsService).raids.keys()]).toEqual([id]), settled);
    } finally {
      await app.close();
    }
  });

  it('receive replays, except those for connections with a name', async () => {
    const gateway = await connectNats({ urls: [stack.nats.urlFor('gateway')], name: 'test' });
    const { host, password } = new URL(stack.nats.urlFor('subscriber'));
    const listener = await connectToEvents(host, password);
    const received = new Received();
    const following = followReplays(listener, received.handle);
    await listener.flush();
    const replay = (name?: string): string => {
      const event = newEvent();
      const messageHeaders = headers();
      messageHeaders.set('Nats-Msg-Id', event.id);
      if (name) messageHeaders.set(connectionNameHeader, name);
      gateway.publish(replaySubject(event.eventType, null), printReplayedEventRecord(event), {
        headers: messageHeaders,
      });
      return event.id;
    };

    const ids = [replay(), replay('my-overlay'), replay()];

    await eventually(() => expect(received.ids).toEqual([ids[0], ids[2]]));
    await Promise.all([gateway.close(), listener.close()]);
    await following;
  });

  // Keep this test last: it deletes the stream.
  it(
    'continue when the stream is lost and recreated',
    async () => {
      const type = uniqueType('follow');
      const filter = `events.platform.${type}.>`;
      const [durable, live] = [new Received(), new Received()];
      const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
      const ids = [await store(type)];

      await during(
        (signal) =>
          Promise.all([
            followDurably(subscriber, { name: type, filter, handle: durable.handle, signal }),
            followLive(subscriber, { filter, handle: live.handle, signal }),
          ]).then(() => undefined),
        async () => {
          await eventually(() => expect(durable.ids).toEqual(ids), settled);
          await (await jetstreamManager(operator)).streams.delete(eventsStreamName);
          ids.push(await store(type));
          await stack.waitUntilPublished();
          const isComplete = (): void => expect(new Set(durable.ids)).toEqual(new Set(ids));
          await eventually(isComplete, settled);
          // Once the example is live again, it receives every new event.
          await eventually(
            async () => {
              const id = await store(type);
              ids.push(id);
              await eventually(() => expect(live.ids).toContain(id), { timeoutMs: 5_000 });
            },
            { timeoutMs: 90_000 },
          );
          await eventually(isComplete, settled);
        },
      );
      warn.mockRestore();
      expect(new Set(live.ids).size).toBe(live.ids.length);
    },
    limitMs,
  );

  it('forget the oldest ids', () => {
    const recent = new RecentIds(2);
    expect(['a', 'b', 'a', 'c', 'a'].map((id) => recent.add(id))).toEqual([true, true, false, true, true]);
  });
});
