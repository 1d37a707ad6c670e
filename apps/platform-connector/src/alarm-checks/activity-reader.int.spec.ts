import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName, eventsStreamSubjects, natsUsers } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { ActivityReader } from './activity-reader.js';

const hour = 3_600_000;
// On a busy machine, a JetStream request can exceed the default timeout of 5 s, above all with thousands of messages at once.
const patiently = { timeout: 30_000 };

describe(ActivityReader.name, () => {
  let nats: TestNats;
  let events: NatsConnection;
  let connection: NatsConnection;
  let heard: string[];

  beforeAll(async () => {
    nats = await startTestNats(Object.values(natsUsers));
    events = await connectNats({ urls: [nats.urlFor('events')], name: 'test', account: 'EVENTS' });
    const url = nats.urlFor('platform-connector');
    connection = await connectNats({ urls: [url], name: 'test', account: 'EVENTS' });
    const { streams } = await jetstreamManager(events, patiently);
    await streams.add({ name: eventsStreamName, subjects: [eventsStreamSubjects] });
  });
  beforeEach(async () => {
    const { streams } = await jetstreamManager(events, patiently);
    await streams.purge(eventsStreamName);
    heard = [];
  });
  afterAll(async () => {
    await Promise.all([events.close(), connection.close()]);
    await nats.stop();
  });

  const publish = async (...subjects: string[]): Promise<void> => {
    for (const subject of subjects)
      await jetstream(events, patiently).publish(`events.${subject}`, '{"private":true}');
  };
  const open = (): Promise<ActivityReader> =>
    ActivityReader.open(connection, (channel, at) => {
      expect(Math.abs(at - Date.now())).toBeLessThan(hour);
      heard.push(channel);
    });

  it('reads the platform events of the past, and those that arrive, in order', async () => {
    await publish('platform.channel-cheer.77', 'client.alert._', 'platform.channel-raid.78');
    const reader = await open();
    await eventually(() => expect(heard).toEqual(['77', '78']));

    await publish('platform.channel-follow.77');
    await eventually(() => expect(heard).toEqual(['77', '78', '77']));
    reader.stop();
  });

  it('reads every event of a long past', async () => {
    const stream = jetstream(events, patiently);
    await Promise.all(
      Array.from({ length: 3_000 }, (_, index) => stream.publish(`events.platform.channel-cheer.${index}`)),
    );
    const reader = await open();
    await eventually(() => expect(heard).toHaveLength(3_000));
    reader.stop();
  });

  it('ends when its consumer is gone', async () => {
    const reader = await open();
    expect(reader.hasEnded).toBe(false);
    const { consumers } = await jetstreamManager(events, patiently);
    for await (const { name } of consumers.list(eventsStreamName))
      await consumers.delete(eventsStreamName, name);

    await eventually(() => expect(reader.hasEnded).toBe(true));
  });
});
