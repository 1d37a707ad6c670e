import { jetstream, jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { inboxPrefix, natsUsers, printEventRecord } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { startTestNats, type TestNats } from '@stream-events/testing';
import { newEvent } from '../../test/new-event.js';
import { ensureEventsStream } from './events-stream.js';
import { StreamPublisher } from './stream-publisher.js';

let nats: TestNats;
let connection: NatsConnection;
beforeAll(async () => {
  nats = await startTestNats(Object.values(natsUsers));
  connection = await connectNats({ urls: [nats.urlFor('events')], name: 'test' });
});
afterAll(async () => {
  await connection.close();
  await nats.stop();
});
beforeEach(async () => {
  const manager = await jetstreamManager(connection);
  await manager.streams.delete('EVENTS').catch(() => undefined);
});

const options = { platform: 'simulator', maxAgeDays: 7, maxGigabytes: 1 };
const day = 24 * 3_600 * 1e9;

async function readInfo(): Promise<StreamInfo> {
  return (await jetstreamManager(connection)).streams.info('EVENTS');
}

async function publishOne(overrides: Parameters<typeof newEvent>[0] = {}) {
  const publisher = new StreamPublisher(connection, inboxPrefix('events'));
  const event = { ...newEvent(overrides), broadcasterUserId: '4711' };
  await publisher.publish([event]);
  publisher.close();
  return event;
}

describe(ensureEventsStream.name, () => {
  it('makes the stream once when several instances start at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => ensureEventsStream(connection, options)));

    expect((await readInfo()).config).toMatchObject({
      subjects: ['events.>'],
      storage: 'file',
      retention: 'limits',
      discard: 'old',
      max_age: 7 * day,
      max_bytes: 1024 ** 3,
      duplicate_window: 120 * 1e9,
    });
  });

  it('brings the bounds up to date and keeps the messages', async () => {
    await ensureEventsStream(connection, options);
    await publishOne();

    await ensureEventsStream(connection, { ...options, maxAgeDays: 3, maxGigabytes: 2 });

    const { config, state } = await readInfo();
    expect(config).toMatchObject({ max_age: 3 * day, max_bytes: 2 * 1024 ** 3, duplicate_window: 120 * 1e9 });
    expect(state.messages).toBe(1);
  });

  it('brings the subjects of an older version up to date', async () => {
    await ensureEventsStream(connection, options);
    const manager = await jetstreamManager(connection);
    await manager.streams.update('EVENTS', { ...(await readInfo()).config, subjects: ['events.*.*.*'] });

    await ensureEventsStream(connection, options);

    expect((await readInfo()).config.subjects).toEqual(['events.>']);
  });

  it('leaves alone what an operator has set besides', async () => {
    await ensureEventsStream(connection, options);
    const manager = await jetstreamManager(connection);
    await manager.streams.update('EVENTS', { ...(await readInfo()).config, max_msgs: 12_345 });

    await ensureEventsStream(connection, options);

    expect((await readInfo()).config.max_msgs).toBe(12_345);
  });

  it('refuses a stream of another platform and changes nothing of it', async () => {
    await ensureEventsStream(connection, options);
    const before = await readInfo();

    const refused = ensureEventsStream(connection, { ...options, platform: 'twitch', maxAgeDays: 1 });

    await expect(refused).rejects.toThrow(/"events of platform simulator", but PLATFORM is twitch/);
    expect((await readInfo()).config).toEqual(before.config);
  });

  it('passes on why the broker does not make it', async () => {
    const refused = ensureEventsStream(connection, { ...options, maxGigabytes: 10_000_000 });

    await expect(refused).rejects.toThrow(/insufficient storage/);
  });
});

describe(StreamPublisher.name, () => {
  it('is what a subscriber with its own user reads, filtered by subject', async () => {
    await ensureEventsStream(connection, options);
    await publishOne({ eventType: 'channel-follow' });
    const raid = await publishOne({ eventType: 'channel-raid' });
    const subscriber = await connectNats({ urls: [nats.urlFor('subscriber')], name: 'subscriber' });

    const consumer = await jetstream(subscriber).consumers.get('EVENTS', {
      filter_subjects: 'events.platform.channel-raid.>',
    });
    const message = await consumer.next();

    expect(message?.string()).toBe(printEventRecord(raid));
    expect(message?.headers?.get('Nats-Msg-Id')).toBe(raid.id);
    await subscriber.close();
  });

  it('fails when there is no stream', async () => {
    await expect(publishOne()).rejects.toThrow('the stream refused an event: there is no stream for it');
  });

  it('has nothing to wait for without events', async () => {
    const publisher = new StreamPublisher(connection, inboxPrefix('events'));

    await publisher.publish([]);

    publisher.close();
  });

  it('fails what is not acknowledged yet when it is closed', async () => {
    const publisher = new StreamPublisher(connection, inboxPrefix('events'));
    const publishing = publisher.publish([{ ...newEvent(), broadcasterUserId: null }]);

    publisher.close();

    await expect(publishing).rejects.toThrow('the publisher is closed');
  });
});
