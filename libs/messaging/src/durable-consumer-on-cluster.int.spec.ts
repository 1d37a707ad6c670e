import { jest } from '@jest/globals';
import { jetstreamManager, RetentionPolicy, type JetStreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { ingestStreamName, ingestSubject, natsUsers } from '@stream-events/contracts';
import { createLogger } from '@stream-events/service';
import {
  createGuardedDirectory,
  eventually,
  NatsCluster,
  type GuardedDirectory,
} from '@stream-events/testing';
import { closeNats, connectNats } from './connection.js';
import { DurableConsumer } from './durable-consumer.js';

const binary = process.env.TEST_NATS_BINARY;
const stream = ingestStreamName;

// Three servers must start, elect leaders, and replicate every message.
jest.setTimeout(240_000);

describe(`${DurableConsumer.name} on a cluster`, () => {
  let directory: GuardedDirectory;
  let cluster: NatsCluster;
  let connection: NatsConnection;
  let publisher: NatsConnection;
  let manager: JetStreamManager;
  let sut: DurableConsumer | undefined;

  beforeAll(async () => {
    directory = await createGuardedDirectory();
    cluster = await NatsCluster.start({
      directory: directory.path,
      users: [natsUsers.events, natsUsers.gateway],
      ...(binary !== undefined && { binary }),
    });
    connection = await connectNats({ urls: cluster.urlsFor('events'), name: 'test' });
    publisher = await connectNats({ urls: cluster.urlsFor('gateway'), name: 'test' });
    manager = await jetstreamManager(connection, { checkAPI: false, timeout: 5_000 });
    // Retry until the servers have elected a leader.
    await eventually(
      () =>
        manager.streams.add({
          name: stream,
          subjects: [ingestSubject],
          retention: RetentionPolicy.Workqueue,
          num_replicas: 3,
        }),
      { timeoutMs: 90_000 },
    );
  });

  afterAll(async () => {
    await sut?.stop();
    await Promise.all([closeNats(connection), closeNats(publisher)]);
    await cluster.stop();
    await directory.remove();
  });

  /** Publishes with retries, because a new stream has no leader for some seconds. The id keeps a retry from storing the message twice. */
  const publish = (text: string): Promise<unknown> => {
    const ids = headers();
    ids.set('Nats-Msg-Id', text);
    return eventually(() => publisher.request(ingestSubject, text, { timeout: 5_000, headers: ids }), {
      timeoutMs: 60_000,
    });
  };

  it('gets every message of a backlog once', async () => {
    const count = 350;
    for (let first = 0; first < count; first += 50)
      await Promise.all(Array.from({ length: 50 }, (_, index) => publish(`${first + index}`)));
    const deliveries: number[] = [];
    sut = new DurableConsumer(
      connection,
      {
        stream,
        name: 'test',
        maxRetryDelayMs: 30_000,
        handling: {
          handleBatch: (messages) => {
            deliveries.push(...messages.map(({ info }) => info.deliveryCount));
            return Promise.resolve(messages.map(() => 'done'));
          },
        },
      },
      createLogger('test', 'silent'),
    );

    sut.start();
    // Longer than the 30 s after which lost messages are redelivered.
    await eventually(async () => expect((await manager.streams.info(stream)).state.messages).toBe(0), {
      timeoutMs: 50_000,
    });

    expect(deliveries).toEqual(Array.from({ length: count }, () => 1));
  });
});
