import { jest } from '@jest/globals';
import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName, eventsStreamSubjects, natsUsers } from '@stream-events/contracts';
import { closeNats, connectNats } from '@stream-events/messaging';
import {
  createGuardedDirectory,
  eventually,
  NatsCluster,
  type GuardedDirectory,
} from '@stream-events/testing';
import { ActivityReader } from './activity-reader.js';

const binary = process.env.TEST_NATS_BINARY;
const hour = 3_600_000;

// Long, because three servers must start and elect leaders.
jest.setTimeout(240_000);
const patiently = { timeoutMs: 90_000 };

describe(`${ActivityReader.name} on a cluster`, () => {
  let directory: GuardedDirectory;
  let cluster: NatsCluster;
  let events: NatsConnection;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  let heard: string[];

  beforeAll(async () => {
    directory = await createGuardedDirectory();
    cluster = await NatsCluster.start({
      directory: directory.path,
      users: Object.values(natsUsers),
      ...(binary !== undefined && { binary }),
    });
    const connect = (user: string): Promise<NatsConnection> =>
      connectNats({ urls: cluster.urlsFor(user), name: 'test', account: 'EVENTS' });
    [events, connection] = await Promise.all([connect('events'), connect('platform-connector')]);
    manager = await jetstreamManager(events, { checkAPI: false, timeout: 5_000 });
    // Retry, because the servers must first elect a leader.
    await eventually(
      () =>
        manager.streams.add({ name: eventsStreamName, subjects: [eventsStreamSubjects], num_replicas: 3 }),
      patiently,
    );
    heard = [];
  });

  afterAll(async () => {
    await Promise.all([closeNats(events), closeNats(connection)]);
    await cluster.stop();
    await directory.remove();
  });

  const leader = async (): Promise<string | undefined> =>
    (await manager.streams.info(eventsStreamName)).cluster?.leader;

  /** Opens readers until one is up to date. NATS places about one consumer in three on the leader. */
  const openUpToDate = async (): Promise<ActivityReader> => {
    let reader: ActivityReader | undefined;
    return eventually(async () => {
      if (!reader || reader.hasEnded)
        reader = await ActivityReader.open(connection, hour, (token) => heard.push(token));
      expect(await reader.isUpToDate()).toBe(true);
      return reader;
    }, patiently);
  };

  it('is up to date only while its consumer is on the leader of the stream, and otherwise ends', async () => {
    await eventually(
      () => jetstream(events, { timeout: 5_000 }).publish('events.platform.channel-cheer.77', '{}'),
      patiently,
    );
    const reader = await openUpToDate();
    expect(heard).toContain('channel-cheer.77');
    const before = await leader();

    await eventually(async () => {
      if ((await leader()) === before)
        await events.request(`$JS.API.STREAM.LEADER.STEPDOWN.${eventsStreamName}`, '', { timeout: 5_000 });
      // Without a leader, no server responds.
      expect([undefined, '', before]).not.toContain(await leader());
    }, patiently);

    await eventually(async () => {
      expect(await reader.isUpToDate()).toBe(false);
      expect(reader.hasEnded).toBe(true);
    }, patiently);
    (await openUpToDate()).stop();
  });
});
