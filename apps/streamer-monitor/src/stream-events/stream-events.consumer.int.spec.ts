import type { NatsConnection } from '@nats-io/transport-node';
import { natsUsers } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { EventsStream } from '../../test/events-stream.js';
import { metricOf } from '../../test/monitor-process.js';
import { MonitorStore } from '../../test/monitor-store.js';
import { epoch, offline, online } from '../../test/facts.js';
import type { Streamer } from '../streamers/streamer.entity.js';
import { StreamEventsConsumer } from './stream-events.consumer.js';

interface Instance {
  metrics: Registry;
  stop: () => Promise<void>;
}

const second = 1_000;
let store: MonitorStore;
let nats: TestNats;
let stream: EventsStream;
let instances: Instance[];

beforeAll(async () => {
  [store, nats] = await Promise.all([MonitorStore.create(), startTestNats(Object.values(natsUsers))]);
  stream = await EventsStream.connect(nats);
});
afterAll(async () => {
  await stream.close();
  await Promise.all([store.close(), nats.stop()]);
});
beforeEach(async () => {
  instances = [];
  await store.clear();
  await stream.delete();
  await stream.create();
});
afterEach(async () => {
  await Promise.all(instances.map(({ stop }) => stop()));
});

async function startConsumer(): Promise<Instance> {
  // Connect with the service's own permissions.
  const connection: NatsConnection = await connectNats({
    urls: [nats.urlFor('streamer-monitor')],
    name: 'test',
    account: 'EVENTS',
  });
  const metrics = new Registry();
  const consumer = new StreamEventsConsumer(
    connection,
    store.recorder,
    createLogger('test', 'silent'),
    metrics,
  );
  consumer.start();
  const stop = async (): Promise<void> => {
    await consumer.stop();
    await connection.close();
  };
  instances.push({ metrics, stop });
  return { metrics, stop };
}

const untilRead = (): Promise<void> =>
  eventually(async () => expect(await stream.countLeft()).toBe(0), { timeoutMs: 50_000 });

const outcomesOf = ({ metrics }: Instance, outcome: string): Promise<number> =>
  metricOf(metrics, 'streamer_monitor_events_total', { outcome });

async function endsOf(streamer: Streamer): Promise<[string, number | null][]> {
  const streams = await store.streamsOf(streamer);
  return streams.map(({ streamId, endedAt }) => [streamId, endedAt && endedAt.getTime() - epoch]);
}

describe(StreamEventsConsumer.name, () => {
  it('records old and new events in the order of event time, and updates whether the streamer is live', async () => {
    const streamer = await store.addStreamer();
    await stream.publishEvent(offline(streamer, 100 * second));
    await stream.publishEvent(online(streamer, 's1', 0));
    await startConsumer();
    await untilRead();
    expect(await endsOf(streamer)).toEqual([['s1', 100 * second]]);

    await stream.publishEvent(online(streamer, 's2', 200 * second));
    await eventually(async () => expect((await store.streamer(streamer)).streaming).toBe(true));
    await stream.publishEvent(offline(streamer, 300 * second, 's2'));
    await eventually(async () => expect((await store.streamer(streamer)).streaming).toBe(false));

    expect(await endsOf(streamer)).toEqual([['s1', 100 * second], ['s2', 300 * second]]); // prettier-ignore
  });

  it('ignores events that clients added, test events, and events of streamers that are not monitored', async () => {
    const streamer = await store.addStreamer();
    const disabled = await store.addStreamer({ disabled: true });
    const instance = await startConsumer();
    await stream.publishEvent(online(streamer, 'by-hand', 0), { eventId: null });
    await stream.publishEvent(online(streamer, 'odd-by-hand', 0), { eventId: null, eventData: '{"x":[]}' });
    await stream.publishEvent(online(streamer, 'test', 0), { origin: 'test' });
    await stream.publishEvent(online(disabled, 'disabled', 0));
    await stream.publishEvent(online({ ...streamer, platformId: 'unknown' }, 'unknown', 0));
    await eventually(async () => expect(await outcomesOf(instance, 'ignored')).toBe(4));
    await untilRead();

    expect(await store.count('streams')).toBe(0);
    expect(await store.streamer(streamer)).toMatchObject({ streaming: false, isStreamingKnown: false });
  });

  it('skips and counts unreadable events, and records the others', async () => {
    const streamer = await store.addStreamer();
    const { platformId } = streamer;
    const odd = [
      '{"id":"s0"}',
      JSON.stringify({ broadcaster_user_id: platformId, id: 's0', started_at: 'yesterday' }),
      JSON.stringify({ broadcaster_user_id: platformId, id: 's0\0', started_at: '2026-01-01T00:00:00Z' }),
      JSON.stringify({ broadcaster_user_id: platformId, id: 's0', started_at: '9999-01-01T00:00:00Z' }),
      '[]',
    ];
    for (const eventData of odd) await stream.publishEvent(online(streamer, 's0', 0), { eventData });
    await stream.publish(`events.platform.stream-online.${platformId}`, 'no JSON');
    await stream.publishEvent(online(streamer, 's1', 0));

    const instance = await startConsumer();
    await untilRead();

    expect(await endsOf(streamer)).toEqual([['s1', null]]);
    expect(await outcomesOf(instance, 'unreadable')).toBe(odd.length + 1);
    expect(await outcomesOf(instance, 'failed')).toBe(0);
  });

  it('shares the messages among instances, each message once', async () => {
    const streamers: Streamer[] = [];
    while (streamers.length < 20) streamers.push(await store.addStreamer());
    const both = await Promise.all([startConsumer(), startConsumer()]);
    // Wait for both, or one instance might read everything before the other has started.
    await eventually(async () => expect(await stream.countReaders()).toBe(2));

    await Promise.all(
      streamers.map(async (streamer) => {
        for (let index = 0; index < 10; index += 1)
          await stream.publishEvent(online(streamer, `s${index}`, index * second));
      }),
    );
    await untilRead();

    const applied = await Promise.all(both.map((instance) => outcomesOf(instance, 'applied')));
    expect(applied[0]! + applied[1]!).toBe(200);
    expect(Math.min(...applied)).toBeGreaterThan(0);
    expect(await store.count('streams')).toBe(200);
  });

  it('waits for the EVENTS stream, and reads it once it exists', async () => {
    await stream.delete();
    const streamer = await store.addStreamer();
    await startConsumer();
    await stream.create();
    await stream.publishEvent(online(streamer, 's1', 0));

    await eventually(async () => expect(await endsOf(streamer)).toEqual([['s1', null]]));
  });

  it('continues after the stream was lost and recreated with all events published again', async () => {
    const streamer = await store.addStreamer();
    const first = online(streamer, 's1', 0);
    await startConsumer();
    await stream.publishEvent(first);
    await eventually(async () => expect(await endsOf(streamer)).toHaveLength(1));

    await stream.delete();
    await stream.create();
    await stream.publishEvent(first);
    await stream.publishEvent(offline(streamer, 100 * second));

    await eventually(async () => expect(await endsOf(streamer)).toEqual([['s1', 100 * second]]), {
      timeoutMs: 60_000,
    });
    expect(await store.count('streams')).toBe(1);
  });

  it('continues after the broker was killed and restarted', async () => {
    const streamer = await store.addStreamer();
    await startConsumer();
    await stream.publishEvent(online(streamer, 's1', 0));
    await eventually(async () => expect(await endsOf(streamer)).toHaveLength(1));

    await nats.kill();
    await nats.restart();
    await eventually(() => stream.publishEvent(offline(streamer, 100 * second)), { timeoutMs: 60_000 });

    await eventually(async () => expect(await endsOf(streamer)).toEqual([['s1', 100 * second]]), {
      timeoutMs: 60_000,
    });
  }, 180_000);

  it('retries events while they cannot be recorded, and records them later', async () => {
    const streamer = await store.addStreamer();
    const instance = await startConsumer();
    await store.dataSource.query('ALTER TABLE streams RENAME TO streams_away');
    await stream.publishEvent(online(streamer, 's1', 0));
    await eventually(async () => expect(await outcomesOf(instance, 'failed')).toBeGreaterThan(1));
    await store.dataSource.query('ALTER TABLE streams_away RENAME TO streams');

    await eventually(async () => expect(await endsOf(streamer)).toEqual([['s1', null]]));
    await untilRead();
  });
});
