import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import {
  natsUsers,
  printReplayedEventRecord,
  ServiceError,
  type StoredEvent,
} from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { createLogger } from '@stream-events/service';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { v7 as uuidV7 } from 'uuid';
import { HoldingProxy } from '../../test/holding-proxy.js';
import type { LiveEvent } from '../live/stream/live-event.js';
import { ReplayChannel } from './replay-channel.js';

interface Received {
  event: LiveEvent;
  connectionName: string | undefined;
}

const logger = createLogger('test', 'silent');
// Long enough that even a busy machine reaches the limit only in the test of the limit.
const patientLimitMs = 20_000;
let nats: TestNats;
let channels: ReplayChannel[];
let received: Received[][];
let listener: NatsConnection;
let messages: Msg[];

beforeAll(async () => {
  nats = await startTestNats(Object.values(natsUsers));
  channels = Array.from(
    { length: 2 },
    () => new ReplayChannel({ urls: [nats.urlFor('gateway')], name: 'gateway' }, logger, patientLimitMs),
  );
  await Promise.all(
    channels.map((channel, index) =>
      channel.connect((event, connectionName) => received[index]?.push({ event, connectionName })),
    ),
  );
  listener = await connectNats({ urls: [nats.urlFor('gateway')], name: 'listener' });
  listener.subscribe('live.replay.>', { callback: (_, message) => void messages.push(message) });
  await listener.flush();
});
afterAll(async () => {
  await Promise.all([...channels.map((channel) => channel.close()), listener.close()]);
  await nats.stop();
});
beforeEach(async () => {
  // After this, everything that the previous test sent has arrived.
  await Promise.all([listener.flush(), ...channels.map((channel) => channel.publish([], null))]);
  received = [[], []];
  messages = [];
});

function newEvent(overrides: Partial<StoredEvent> = {}): StoredEvent {
  return {
    id: uuidV7(),
    eventId: null,
    eventType: 'channel-raid',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: '{"broadcaster_user_id":"4711"}',
    ...overrides,
  };
}

function firstChannel(): ReplayChannel {
  const [channel] = channels;
  if (!channel) throw new Error('there is no channel');
  return channel;
}

function publish(events: StoredEvent[], connectionName: string | null = null): Promise<void> {
  return firstChannel().publish(events, connectionName);
}

async function refusal(channel = firstChannel()): Promise<{ code: unknown; elapsedMs: number }> {
  const startedAt = performance.now();
  const code = await channel.publish([newEvent()], null).then(
    () => 'accepted',
    (error: unknown) => (error instanceof ServiceError ? error.code : error),
  );
  return { code, elapsedMs: performance.now() - startedAt };
}

describe(ReplayChannel.name, () => {
  it('ignores messages that are not replays', async () => {
    const unreadable = headers();
    unreadable.set('Connection-Name', '%');
    listener.publish('live.replay.channel-raid.4711', '{}', { headers: unreadable });
    listener.publish('live.replay.channel-raid.4711', '');
    await listener.flush();
    const event = newEvent();

    await publish([event]);

    await eventually(() => {
      for (const events of received) expect(events.map(({ event: { id } }) => id)).toEqual([event.id]);
    });
  });

  it('delivers events to every gateway including the sender, in order and without positions', async () => {
    const events = Array.from({ length: 50 }, (_, index) =>
      newEvent({
        eventData: `{"n":${index},"big":1.50,"text":"é\\ud800\\n"}`,
        origin: index % 2 ? 'test' : 'platform',
      }),
    );

    await publish(events);

    await eventually(() => expect(received.map(({ length }) => length)).toEqual([50, 50]));
    for (const gateway of received) {
      expect(gateway.map(({ event }) => event.record.toString())).toEqual(
        events.map(printReplayedEventRecord),
      );
      expect(gateway.map(({ event }) => event.id)).toEqual(events.map(({ id }) => id));
      for (const { event, connectionName } of gateway)
        expect([event.epoch, event.sequence, connectionName]).toEqual(['', 0, undefined]);
    }
  });

  it.each([
    ['live.replay.channel-raid.4711', {}],
    [
      'live.replay.channel-raid.1',
      { eventData: '{"from_broadcaster_user_id":"2","to_broadcaster_user_id":"1"}' },
    ],
    ['live.replay.a%2Eb%2A._', { eventType: 'a.b*', eventData: '{"broadcaster_user_id":5}' }],
    ['live.replay._long._', { eventType: 'é'.repeat(255), eventData: '{}' }],
  ])('publishes on %s, with the id as a header', async (subject, overrides) => {
    const event = newEvent(overrides);

    await publish([event]);

    await eventually(() => expect(messages).toHaveLength(1));
    expect(messages[0]?.subject).toBe(subject);
    expect(messages[0]?.headers?.get('Nats-Msg-Id')).toBe(event.id);
    expect(messages[0]?.headers?.has('Connection-Name')).toBe(false);
  });

  it.each(['overlay', ' 100 % ünï\r\ncode: 😀 '])('carries the name of the connections: %j', async (name) => {
    await publish([newEvent()], name);

    await eventually(() => expect(received[1]?.map(({ connectionName }) => connectionName)).toEqual([name]));
  });

  it('fails for an event larger than the maximum payload, and keeps working', async () => {
    await expect(publish([newEvent({ eventData: `{"x":"${'x'.repeat(2_000_000)}"}` })])).rejects.toThrow(
      /max_payload/i,
    );

    await publish([newEvent()]);
  });

  it('gives up after 2 s when NATS does not respond, and then tries once a second only', async () => {
    const proxy = await HoldingProxy.start(nats.urlFor('gateway'));
    const channel = new ReplayChannel({ urls: [proxy.url], name: 'gateway' }, logger);
    try {
      await channel.connect(() => undefined);
      proxy.hold();

      const first = await refusal(channel);
      expect(first.code).toBe('unavailable');
      expect(first.elapsedMs).toBeGreaterThan(1_900);
      expect(first.elapsedMs).toBeLessThan(10_000); // after that, the client gives up the connection
      // Check early: once the client has given up the connection, every attempt fails immediately.
      await eventually(
        async () => {
          const { code, elapsedMs } = await refusal(channel);
          expect(code).toBe('unavailable');
          expect(elapsedMs).toBeLessThan(1_500);
        },
        { timeoutMs: 6_000 },
      );
      proxy.release();
      await eventually(() => channel.publish([newEvent()], null));
    } finally {
      await channel.close();
      proxy.stop();
    }
  });

  // Keep this test last: it stops NATS.
  it('rejects at once while NATS is unavailable, and delivers again afterwards', async () => {
    await nats.kill();
    await eventually(async () => {
      const { code, elapsedMs } = await refusal();
      expect(code).toBe('unavailable');
      expect(elapsedMs).toBeLessThan(100);
    });

    await nats.restart();
    await eventually(async () => {
      const event = newEvent();
      await publish([event]);
      await eventually(() => expect(received[1]?.map(({ event: { id } }) => id)).toContain(event.id), { timeoutMs: 4_000 }); // prettier-ignore
    });
  });
});
