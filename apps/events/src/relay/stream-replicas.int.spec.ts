import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName, ingestStreamName, natsUsers } from '@stream-events/contracts';
import {
  connectNats,
  natsConnectionOptions,
  StreamPublisher,
  TooFewServersError,
} from '@stream-events/messaging';
import {
  createGuardedDirectory,
  eventually,
  NatsCluster,
  startTestNats,
  type GuardedDirectory,
} from '@stream-events/testing';
import { IngestStream } from '../ingest/ingest-stream.js';
import { EventsStream } from './events-stream.js';

const sizes = { platform: 'simulator', maxAgeMs: 3_600_000, maxGigabytes: 1 };
// The streams have no leader for seconds after they were changed.
const patience = { timeoutMs: 30_000 };
const binary = process.env.TEST_NATS_BINARY;

/** Opens both streams as the events service does, and creates or updates them. */
async function prepareStreams(urls: readonly string[], replicas: number | undefined): Promise<void> {
  const events = await connectNats({ urls, name: 'test', account: 'EVENTS' });
  const services = await connectNats({ urls, name: 'test' });
  try {
    const stream = await EventsStream.open(events, { ...sizes, replicas });
    if (await stream.find()) await stream.update('0ddba115');
    else await stream.create('0ddba115');
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

    beforeAll(async () => {
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
      await Promise.all([events.close(), services.close()]);
      await cluster.stop();
      await directory.remove();
    });

    const readReplicas = async (): Promise<number[]> => {
      const ofEvents = await (await jetstreamManager(events)).streams.info(eventsStreamName);
      const ofIngest = await (await jetstreamManager(services)).streams.info(ingestStreamName);
      return [ofEvents, ofIngest].map(({ config }) => config.num_replicas);
    };

    const findLeader = async (): Promise<string> => {
      const { cluster: placement } = await (await jetstreamManager(events)).streams.info(eventsStreamName);
      if (!placement?.leader) throw new Error('the stream has no leader');
      if (placement.replicas?.some(({ current }) => !current)) throw new Error('a replica is not current');
      return placement.leader;
    };

    it('gives existing streams three replicas, keeps them, and publishes after the loss of the leader', async () => {
      await eventually(() => prepareStreams(urls, undefined), patience); // the cluster may still start
      expect(await readReplicas()).toEqual([1, 1]);

      await prepareStreams(urls, 3);
      await eventually(async () => expect(await readReplicas()).toEqual([3, 3]), patience);
      await eventually(() => prepareStreams(urls, undefined), patience);
      expect(await eventually(readReplicas, patience)).toEqual([3, 3]);

      const options = natsConnectionOptions({ urls, name: 'test', account: 'EVENTS' });
      const publisher = new StreamPublisher(events, options);
      const publish = (messageId: string): Promise<number> =>
        publisher.publish([{ subject: 'events.user.test._', messageId, payload: '{}' }]);
      expect(await eventually(() => publish('before'), patience)).toBe(1);
      const leader = await eventually(findLeader, patience);
      await cluster.members.find(({ name }) => name === leader)?.kill();

      expect(await eventually(() => publish('after'), patience)).toBe(2);
      publisher.close();
    });
  });
});
