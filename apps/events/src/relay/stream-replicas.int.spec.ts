import { jest } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName, ingestStreamName, natsUsers } from '@stream-events/contracts';
import {
  connectNats,
  natsConnectionOptions,
  StreamPublisher,
  TooFewServersError,
} from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import {
  createGuardedDirectory,
  eventually,
  NatsCluster,
  startTestNats,
  type GuardedDirectory,
  type NatsMember,
} from '@stream-events/testing';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { IngestStream } from '../ingest/ingest-stream.js';
import { DoubtfulStateError, EventsStream } from './events-stream.js';
import { StreamCheck } from './stream-check.service.js';
import { StreamRecordRepository } from './stream-record.repository.js';

const sizes = { platform: 'simulator', maxAgeMs: 3_600_000, maxGigabytes: 1 };
// After a change, the streams are without a leader for some seconds.
const patience = { timeoutMs: 60_000 };
// Three servers start one after another, and tests wait for several elections.
jest.setTimeout(6 * patience.timeoutMs);
const timeout = 20_000;
const binary = process.env.TEST_NATS_BINARY;
const epoch = '0ddba115';

/** Opens both streams like the events service, and creates or updates them. */
async function prepareStreams(urls: readonly string[], replicas: number | undefined): Promise<void> {
  const events = await connectNats({ urls, name: 'test', account: 'EVENTS' });
  const services = await connectNats({ urls, name: 'test' });
  try {
    const stream = await EventsStream.open(events, { ...sizes, replicas });
    if (await stream.find()) await stream.update(epoch);
    else await stream.create(epoch);
    await new IngestStream(services, { ...sizes, replicas }).prepare();
  } finally {
    await Promise.all([events.close(), services.close()]);
  }
}

describe('NATS_REPLICAS', () => {
  describe('on one server', () => {
    it('rejects three replicas and says what to do', async () => {
      const nats = await startTestNats(Object.values(natsUsers));

      const prepared = prepareStreams([nats.urlFor('events')], 3);

      await expect(prepared).rejects.toThrow(TooFewServersError);
      await expect(prepared).rejects.toThrow(/NATS_REPLICAS is 3.*start the missing servers, or set a lower/);
      await prepareStreams([nats.urlFor('events')], undefined);
      await nats.stop();
    });
  });

  describe('on a cluster of three', () => {
    let directory: GuardedDirectory;
    let cluster: NatsCluster;
    let urls: string[];
    let events: NatsConnection;
    let services: NatsConnection;
    let store: EventStore;
    const opened: { close(): Promise<void> }[] = [];

    beforeAll(async () => {
      store = await EventStore.create();
      opened.push(store);
      directory = await createGuardedDirectory();
      cluster = await NatsCluster.start({
        directory: directory.path,
        users: Object.values(natsUsers),
        ...(binary !== undefined && { binary }),
      });
      urls = cluster.urlsFor('events');
      events = await connectNats({ urls, name: 'test', account: 'EVENTS' });
      services = await connectNats({ urls, name: 'test' });
    });
    afterAll(async () => {
      await Promise.all([events, services, ...opened].map((each) => each.close()));
      await cluster.stop();
      await directory.remove();
    });

    const connectTo = async (member: NatsMember): Promise<NatsConnection> => {
      const url = urls[cluster.members.indexOf(member)]!;
      const connection = await connectNats({ urls: [url], name: 'test', account: 'EVENTS' });
      opened.push(connection);
      return connection;
    };

    const readLastSequence = async (stream: EventsStream): Promise<number> =>
      (await stream.find())?.lastSequence ?? 0;

    const createCheck = (stream: EventsStream) => {
      const records = new StreamRecordRepository(store.dataSource);
      return {
        records,
        check: new StreamCheck(stream, records, createLogger('test', 'silent'), new Registry()),
      };
    };

    const readReplicas = async (): Promise<number[]> => {
      const ofEvents = await (await jetstreamManager(events, { timeout })).streams.info(eventsStreamName);
      const ofIngest = await (await jetstreamManager(services, { timeout })).streams.info(ingestStreamName);
      return [ofEvents, ofIngest].map(({ config }) => config.num_replicas);
    };

    /** Waits until all replicas are up to date, and returns the leader's server. */
    const findLeader = (): Promise<NatsMember> =>
      eventually(async () => {
        const { cluster: placement } = await (
          await jetstreamManager(events, { timeout })
        ).streams.info(eventsStreamName);
        expect(placement?.replicas?.filter(({ current }) => current)).toHaveLength(2);
        const leader = cluster.members.find(({ name }) => name === placement?.leader);
        if (!leader) throw new Error('the stream has no leader');
        return leader;
      }, patience);

    const publish = async (connection: NatsConnection, messageId: string): Promise<number> => {
      const options = natsConnectionOptions({ urls, name: 'test', account: 'EVENTS' });
      const publisher = new StreamPublisher(connection, options);
      try {
        return await publisher.publish([{ subject: 'events.user.test._', messageId, payload: '{}' }]);
      } finally {
        publisher.close();
      }
    };

    it('gives existing streams three replicas, keeps them, and publishes after the loss of the leader', async () => {
      await eventually(() => prepareStreams(urls, undefined), patience); // the cluster may still start
      expect(await readReplicas()).toEqual([1, 1]);

      await eventually(() => prepareStreams(urls, 3), patience);
      await eventually(async () => expect(await readReplicas()).toEqual([3, 3]), patience);
      await eventually(() => prepareStreams(urls, undefined), patience);
      expect(await eventually(readReplicas, patience)).toEqual([3, 3]);

      expect(await eventually(() => publish(events, 'before'), patience)).toBe(1);
      const leader = await findLeader();
      await leader.kill();

      expect(await eventually(() => publish(events, 'after'), patience)).toBe(2);
      await leader.start();
    });

    it('does not treat an event as lost when only a leader without connection to its replicas lacks it', async () => {
      const leader = await findLeader();
      const atLeader = await connectTo(leader);
      const atFollower = await connectTo(cluster.members.find((member) => member !== leader)!);
      const stream = await EventsStream.open(atLeader, sizes);
      const { check, records } = createCheck(stream);
      expect(await check.prepare()).toBe(epoch);
      const next = (await readLastSequence(stream)) + 1;

      // Record one more message, as if another instance had published it on the other side of the network split.
      await records.raise(epoch, next);
      leader.isolate();
      try {
        await expect(check.run()).rejects.toThrow(DoubtfulStateError);
        expect(await eventually(() => publish(atFollower, 'on the other side'), patience)).toBe(next);
        await expect(check.run()).rejects.toThrow();
      } finally {
        await leader.join();
      }

      expect(await eventually(() => check.run(), patience)).toBe(epoch);
      expect(await eventually(() => stream.find(), patience)).toMatchObject({ epoch, lastSequence: next });
    });

    it('notices a loss, even if other events have taken the sequences of the lost ones before the second check', async () => {
      await findLeader();
      const stream = await EventsStream.open(events, sizes);
      const { check } = createCheck(stream);
      expect(await check.prepare()).toBe(epoch);
      const lost = (await readLastSequence(stream)) + 1;
      await store.dataSource.query(
        'INSERT INTO published_batches (id, event_ids, epoch, last_sequence) VALUES (1, ARRAY[$1::uuid], $2, $3)',
        [v7(), epoch, lost],
      );

      await expect(check.run()).rejects.toThrow(DoubtfulStateError);
      expect(await eventually(() => publish(events, 'meanwhile'), patience)).toBe(lost);
      const next = await eventually(() => check.run(), patience);

      expect(next).not.toBe(epoch);
      expect(await store.count('outbox')).toBe(1);
      expect(await check.run()).toBe(next);
    });
  });
});
