import { setTimeout as wait } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { AckPolicy, jetstreamManager, RetentionPolicy, type JetStreamManager } from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { ingestStreamName, ingestSubject, natsUsers } from '@stream-events/contracts';
import { createLogger, type Logger } from '@stream-events/service';
import {
  CuttableProxy,
  eventually as eventuallyIn,
  startTestNats,
  type TestNats,
} from '@stream-events/testing';
import { closeNats, connectNats } from './connection.js';
import {
  DurableConsumer,
  type DeliveredMessage,
  type DurableConsumerOptions,
  type Outcome,
} from './durable-consumer.js';

const name = 'test';
const stream = ingestStreamName;

// If this process stalls during a fetch, the client may drop messages, which the broker redelivers after 30 s.
const limitMs = 50_000;
jest.setTimeout(3 * limitMs);
const eventually: typeof eventuallyIn = (check, options) =>
  eventuallyIn(check, { timeoutMs: limitMs, ...options });
// For tests in which the consumer itself must return the messages.
const noRedelivery = { ack_wait: nanos(600_000) };

let nats: TestNats;
let connection: NatsConnection;
let manager: JetStreamManager;
let publisher: NatsConnection;
let consumers: DurableConsumer[];

beforeAll(async () => {
  nats = await startTestNats([natsUsers.events, natsUsers.gateway]);
  connection = await connectNats({ urls: [nats.urlFor('events')], name: 'test' });
  publisher = await connectNats({ urls: [nats.urlFor('gateway')], name: 'test' });
  manager = await jetstreamManager(connection, { timeout: 20_000 });
});
afterAll(async () => {
  await Promise.all([closeNats(connection), closeNats(publisher)]);
  await nats.stop();
});
beforeEach(async () => {
  consumers = [];
  await createStream();
});
afterEach(async () => {
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  await deleteStream();
});

/** Retries, because nats-server 2.15 may still be deleting the files of the stream that the test before deleted. */
async function createStream(): Promise<void> {
  const config = { name: stream, subjects: [ingestSubject], retention: RetentionPolicy.Workqueue };
  await eventually(() => manager.streams.add(config));
}

async function deleteStream(): Promise<void> {
  await manager.streams.delete(stream).catch(() => undefined); // a test may have deleted it
}

async function publish(...texts: string[]): Promise<void> {
  for (const text of texts) await publisher.request(ingestSubject, text, { timeout: 30_000 });
}

/** After a restart of the broker, retries until the client has reconnected: until then, the client drops requests. */
function publishAfterRestart(text: string): Promise<unknown> {
  return eventually(() => publisher.request(ingestSubject, text, { timeout: 2_000 }));
}

/** Counts all messages on the stream, including those in progress. */
async function countStored(): Promise<number> {
  return (await manager.streams.info(stream)).state.messages;
}

function start(
  handling: DurableConsumerOptions['handling'],
  options: Partial<DurableConsumerOptions> = {},
  on = connection,
): DurableConsumer {
  const sut = new DurableConsumer(
    on,
    { stream, name, handling, maxRetryDelayMs: 30_000, ...options },
    createLogger('test', 'silent'),
  );
  consumers.push(sut);
  sut.start();
  return sut;
}

/** Records messages, which wait until the test gives them an outcome. */
class Handler {
  readonly texts: string[] = [];
  readonly waiting = new Map<string, (outcome: Outcome) => void>();
  most = 0;

  constructor(readonly maxInFlight: number) {}

  handle = (message: DeliveredMessage): Promise<Outcome> => {
    this.texts.push(message.string());
    return new Promise((resolve) => {
      this.waiting.set(message.string(), (outcome) => {
        this.waiting.delete(message.string());
        resolve(outcome);
      });
      this.most = Math.max(this.most, this.waiting.size);
    });
  };
}

describe(DurableConsumer.name, () => {
  describe('with a handler of single messages', () => {
    it('removes a message from the stream when it is done or discarded, and otherwise redelivers it', async () => {
      const deliveries: Record<string, number[]> = {};
      start({
        maxInFlight: 1,
        handle: (message) => {
          const times = (deliveries[message.string()] ??= []);
          times.push(performance.now());
          if (message.string() === 'done' || times.length === 3) return Promise.resolve('done');
          if (message.string() === 'discard') return Promise.resolve('discard');
          if (message.string() === 'retry') return Promise.resolve('retry');
          return Promise.reject(new Error('the handler is broken'));
        },
      });
      await publish('retry', 'done', 'discard', 'throw');

      await eventually(async () => expect(await countStored()).toBe(0));

      expect(
        Object.fromEntries(Object.entries(deliveries).map(([text, { length }]) => [text, length])),
      ).toEqual({ retry: 3, throw: 3, done: 1, discard: 1 });
      const [first, second, third] = deliveries.retry!;
      // 0.5 s and 1 s later, minus some tolerance for the timers of two processes.
      expect(second! - first!).toBeGreaterThan(450);
      expect(third! - second!).toBeGreaterThan(950);
    });

    it('handles at most maxInFlight messages at a time', async () => {
      const handler = new Handler(3);
      start(handler);
      await publish(...Array.from({ length: 10 }, (_, index) => String(index)));

      for (let handled = 0; handled < 10; handled += 1) {
        await eventually(() => expect(handler.waiting.size).toBe(Math.min(3, 10 - handled)));
        [...handler.waiting.values()][0]!('done');
      }

      await eventually(async () => expect(await countStored()).toBe(0));
      expect(handler.most).toBe(3);
    });

    it('finishes the messages in progress when it stops, and leaves the others to the next instance', async () => {
      const handler = new Handler(2);
      const sut = start(handler, { config: noRedelivery });
      await publish('a', 'b', 'c');
      await eventually(() => expect(handler.waiting.size).toBe(2));

      const stopped = sut.stop();
      for (const finish of [...handler.waiting.values()]) finish('done');
      await stopped;

      await eventually(async () => expect(await countStored()).toBe(1));
      expect(handler.texts.sort()).toEqual(['a', 'b']);
      const next = new Handler(1);
      start(next, { config: noRedelivery });
      await eventually(() => expect(next.texts).toEqual(['c']));
      next.waiting.get('c')!('done');
    });

    it('leaves messages that are on their way when it stops to the next instance', async () => {
      const texts = Array.from({ length: 300 }, (_, index) => String(index));
      const handled = new Set<string>();
      let sut: DurableConsumer;
      const handling: DurableConsumerOptions['handling'] = {
        maxInFlight: 1,
        handle: (message) => {
          handled.add(message.string());
          if (handled.size % 20 === 0) restart();
          return Promise.resolve('done');
        },
      };
      const restart = (): void => {
        const stopped = sut.stop();
        sut = start(handling, { config: noRedelivery });
        restarts.push(stopped);
      };
      const restarts: Promise<void>[] = [];
      sut = start(handling, { config: noRedelivery });

      await Promise.all(texts.map((text) => publish(text)));

      await eventually(() => expect(handled.size).toBe(texts.length));
      await Promise.all(restarts);
    });

    it('leaves fetched messages to the next instance while a handler hangs', async () => {
      const handler = new Handler(1);
      const sut = start(handler, { config: noRedelivery });
      await publish('a', 'b', 'c');
      await eventually(() => expect(handler.waiting.size).toBe(1));
      const next = new Handler(2);

      const stopped = sut.stop();
      start(next, { config: noRedelivery });

      await eventually(() => expect([...next.texts].sort()).toEqual(['b', 'c']));
      for (const finish of [...next.waiting.values(), ...handler.waiting.values()]) finish('done');
      await stopped;
    });

    it('stops even when a handler hangs', async () => {
      const handler = new Handler(1);
      const sut = start(handler);
      await publish('a');
      await eventually(() => expect(handler.waiting.size).toBe(1));

      await sut.stop();

      handler.waiting.get('a')!('done');
    });

    it('shares the messages with other instances', async () => {
      const handlers = [new Handler(1), new Handler(1)];
      for (const handler of handlers) start(handler);
      await eventually(async () => expect((await manager.consumers.info(stream, name)).num_waiting).toBe(2));

      // Publish repeatedly: one instance may get several messages while the other is between two fetches.
      await eventually(async () => {
        await publish('a', 'b');
        expect(handlers.map(({ waiting }) => waiting.size)).toEqual([1, 1]);
      });

      // A stopping consumer returns the messages that are left.
      const stopped = consumers.map((consumer) => consumer.stop());
      for (const { waiting } of handlers) for (const finish of waiting.values()) finish('done');
      await Promise.all(stopped);
    });
  });

  describe('with a handler of batches', () => {
    /** Records the batches. Each message in `retried` gets the outcome `retry`. */
    function batches(...retried: string[]) {
      const seen: string[][] = [];
      return {
        seen,
        handleBatch: (messages: readonly DeliveredMessage[]): Promise<Outcome[]> => {
          const texts = messages.map((message) => message.string());
          seen.push(texts);
          return Promise.resolve(
            texts.map((text) =>
              retried.splice(retried.indexOf(text), retried.includes(text) ? 1 : 0).length > 0
                ? 'retry'
                : 'done',
            ),
          );
        },
      };
    }

    it('gets all waiting messages together, and gives each its own outcome', async () => {
      const handling = batches('b');
      await publish('a', 'b', 'c');

      start(handling);
      await eventually(async () => expect(await countStored()).toBe(0));

      expect(handling.seen).toEqual([['a', 'b', 'c'], ['b']]);
    });

    it('gets at most 100 messages and 2 MiB at once', async () => {
      const handling = batches();
      const large = Array.from({ length: 6 }, (_, index) => `${index}`.padEnd(900_000, 'x'));
      await publish(...large);
      await Promise.all(Array.from({ length: 250 }, () => publish('small')));

      start(handling);
      await eventually(async () => expect(await countStored()).toBe(0));

      expect(handling.seen.flat()).toHaveLength(256);
      for (const batch of handling.seen) {
        expect(batch.length).toBeLessThanOrEqual(100);
        expect(batch.join('').length).toBeLessThanOrEqual(2 * 1024 ** 2);
      }
    });

    it('gets messages that were on their way while the broker was silent for two seconds', async () => {
      const proxy = await CuttableProxy.start(nats.urlFor('events'));
      const delayed = await connectNats({ urls: [proxy.urlOf(nats.urlFor('events'))], name: 'delayed' });
      const handling = batches();
      const sut = start(handling, { config: noRedelivery, fetchMs: 60_000 }, delayed);
      await publish('before');
      await eventually(() => expect(handling.seen).toEqual([['before']]));

      proxy.hang();
      await publish('a', 'b');
      await wait(2_000);
      await proxy.heal();

      await eventually(() => expect(handling.seen.flat()).toEqual(['before', 'a', 'b']));
      await sut.stop();
      await closeNats(delayed);
      await proxy.stop();
    });

    it('retries the batches behind one that failed', async () => {
      const large = Array.from({ length: 4 }, (_, index) => `${index}`.padEnd(900_000, 'x'));
      await publish(...large);
      const seen: string[] = [];

      const handling: DurableConsumerOptions['handling'] = {
        handleBatch: (messages) => {
          seen.push(messages.map((message) => message.string().charAt(0)).join(''));
          if (seen.length === 1) return Promise.reject(new Error('no database'));
          return Promise.resolve(messages.map(() => 'done'));
        },
      };
      start(handling, { config: noRedelivery });
      await eventually(async () => expect(await countStored()).toBe(0));

      expect(seen[0]).toBe('01');
      expect([...seen.slice(1).join('')].sort().join('')).toBe('0123');
    });

    it('reports one failure while the batches of several fetches fail', async () => {
      const reports: string[] = [];
      const note = (_fields: unknown, text: string): void => void reports.push(text);
      await Promise.all(Array.from({ length: 250 }, (_, index) => publish(String(index))));
      let failures = 0;
      const handleBatch = (messages: readonly DeliveredMessage[]): Promise<Outcome[]> => {
        if (failures === 4) return Promise.resolve(messages.map(() => 'done'));
        failures += 1;
        return Promise.reject(new Error('no database'));
      };
      // Safe cast: the consumer logs with these two methods only.
      const logger = { info: note, warn: note } as unknown as Logger;
      const sut = new DurableConsumer(
        connection,
        { stream, name, handling: { handleBatch }, maxRetryDelayMs: 30_000 },
        logger,
      );
      consumers.push(sut);
      sut.start();

      await eventually(async () => expect(await countStored()).toBe(0));

      expect(reports).toEqual([
        'cannot read the stream or handle its messages, retrying',
        'consuming the stream again',
      ]);
    });

    it('retries a batch that failed, and pauses longer each time', async () => {
      const times: number[] = [];
      // Use a single message, because the broker may redeliver two of them in different batches.
      await publish('a');

      start({
        handleBatch: (messages) => {
          times.push(performance.now());
          if (times.length < 3) return Promise.reject(new Error('no database'));
          return Promise.resolve(messages.map(() => 'done'));
        },
      });
      await eventually(async () => expect(await countStored()).toBe(0));

      // 0.5 s and 1 s, minus up to a quarter for jitter.
      expect(times[1]! - times[0]!).toBeGreaterThan(350);
      expect(times[2]! - times[1]!).toBeGreaterThan(700);
    });
  });

  describe('when something is missing', () => {
    it('waits for a stream that another service creates', async () => {
      await deleteStream();
      const handler = new Handler(1);
      start(handler);

      await createStream();
      await publish('a');

      await eventually(() => expect(handler.texts).toEqual(['a']));
      handler.waiting.get('a')!('done');
    });

    it('prepares its own stream, at the start and after the stream was lost', async () => {
      await deleteStream();
      const handler = new Handler(1);
      start(handler, { prepareStream: createStream });
      await eventually(() => publish('a'));
      await eventually(() => handler.waiting.get('a')!('done'));

      await deleteStream();
      await eventually(() => publish('b'));

      await eventually(() => expect(handler.texts).toEqual(['a', 'b']));
      handler.waiting.get('b')!('done');
    });

    it('updates a consumer with another configuration, and keeps its position', async () => {
      await manager.consumers.add(stream, { durable_name: name, ack_policy: AckPolicy.Explicit, max_ack_pending: 7 }); // prettier-ignore
      const handler = new Handler(1);
      start(handler, { config: { max_ack_pending: 9 } });
      await publish('a');

      await eventually(() => expect(handler.texts).toEqual(['a']));
      handler.waiting.get('a')!('done');
      expect((await manager.consumers.info(stream, name)).config.max_ack_pending).toBe(9);
    });

    it('recreates a consumer that was deleted', async () => {
      const handler = new Handler(1);
      start(handler);
      await eventually(async () => expect((await manager.consumers.info(stream, name)).num_waiting).toBe(1));

      await manager.consumers.delete(stream, name);
      await publish('a');

      await eventually(() => expect(handler.texts).toEqual(['a']));
      handler.waiting.get('a')!('done');
    });
  });

  it('counts the messages that are not delivered yet', async () => {
    const handler = new Handler(1);
    const sut = start(handler, { config: { max_ack_pending: 1 } });
    await publish('a', 'b', 'c');
    await eventually(() => expect(handler.waiting.size).toBe(1));

    expect(await sut.countPending()).toBe(2);

    handler.waiting.get('a')!('done');
  });

  // This test must be the last one, because it kills the broker.
  it('continues after the broker was killed and restarted', async () => {
    const texts: string[] = [];
    start({
      maxInFlight: 1,
      handle: (message) => {
        texts.push(message.string());
        return Promise.resolve('done');
      },
    });
    await publish('a');
    await eventually(() => expect(texts).toContain('a'));

    await nats.kill();
    await nats.restart();
    await publishAfterRestart('b');

    await eventually(() => expect(texts).toContain('b'));
  });
});
