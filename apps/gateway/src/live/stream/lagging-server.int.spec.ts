import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { EventsBroker, newIds } from '../../../test/events-broker.js';
import { LaggingReplica } from '../../../test/lagging-replica.js';
import { EventFeed, type Interruption } from './event-feed.service.js';
import type { EventsStreamClient } from './events-stream-client.js';

describe('a live consumer on a server that is catching up', () => {
  const ids = newIds(1_000);
  let broker: EventsBroker;
  let stream: EventsStreamClient;
  let feed: EventFeed;
  let replica: LaggingReplica | undefined;
  let delivered: string[];
  let interruptions: Interruption[];
  let logged: unknown[];

  beforeAll(async () => {
    broker = await EventsBroker.start();
  });
  beforeEach(async () => {
    [delivered, interruptions, logged] = [[], [], []];
    await broker.createStream('0ddba115');
    await broker.publish(ids.slice(0, 10));
    stream = await broker.connectGateway();
    const logger = createLogger('test', 'silent');
    logger.info = logger.warn = (...line: unknown[]) => void logged.push(line);
    feed = new EventFeed(stream, logger, new Registry(), broker.erased);
    feed.listen({
      onEvent: ({ id }) => delivered.push(id),
      onInterrupted: (interruption) => interruptions.push(interruption),
    });
  });
  afterEach(async () => {
    await feed.stop();
    await replica?.delete();
    replica = undefined;
    await broker.deleteStream();
  });
  afterAll(() => broker.close());

  const untilCurrent = (): Promise<void> => feed.untilCurrent(AbortSignal.timeout(100_000));

  it.each([
    ['lacks the newest events', 20],
    ['lacks events that the feed has already read', 5],
    ['has lost its data', 0],
  ])('is replaced if the server %s', async (_, count) => {
    feed.start();
    await untilCurrent();
    await broker.publish(ids.slice(10, 15));
    await untilCurrent();
    replica = await LaggingReplica.create(broker, ids.slice(0, count));
    replica.takeNextConsumer(stream);

    await broker.deleteConsumers();
    await broker.publish(ids.slice(15, 40));

    await untilCurrent();
    expect(delivered).toEqual(ids.slice(10, 40));
    expect(interruptions).toEqual([]);
    expect(JSON.stringify(logged)).toContain('a NATS server that is catching up');
  });

  it('is replaced at the start of the feed', async () => {
    replica = await LaggingReplica.create(broker, ids.slice(0, 5));
    replica.takeNextConsumer(stream);

    feed.start();
    await untilCurrent();

    expect(feed.ringBuffer?.slice(1, 100).map(({ id }) => id)).toEqual(ids.slice(0, 10));
  });

  it('is kept while it delivers messages', async () => {
    replica = await LaggingReplica.create(broker, ids.slice(0, 10));
    replica.takeNextConsumer(stream);
    feed.start();
    await untilCurrent();
    await broker.publish(ids.slice(10));
    const startedAt = performance.now();

    let count = 10;
    // Wait for several checks of the stream.
    await eventually(
      async () => {
        await replica?.receive(ids.slice(count, (count += 1)));
        expect(performance.now() - startedAt).toBeGreaterThan(5_000);
      },
      { timeoutMs: 30_000, intervalMs: 50 },
    );

    await eventually(() => expect(delivered).toEqual(ids.slice(10, count)));
    expect(JSON.stringify(logged)).not.toContain('catching up');
  });
});
