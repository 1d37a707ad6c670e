import { eventually } from '@stream-events/testing';
import { createLogger, Registry } from '@stream-events/service';
import { EventsBroker, newIds } from '../../../test/events-broker.js';
import { EventFeed } from './event-feed.service.js';
import type { EventsStreamClient } from './events-stream-client.js';
import { PageReaders } from './page-readers.js';

let broker: EventsBroker;
let stream: EventsStreamClient;
let sut: PageReaders;

beforeAll(async () => {
  broker = await EventsBroker.start();
  await broker.createStream('0ddba115');
  await broker.publish(newIds(1_000));
  stream = await broker.connectGateway();
  sut = new PageReaders(stream);
});
afterAll(() => broker.close());

describe(PageReaders.name, () => {
  it('skips work whose caller no longer waits', async () => {
    const consumers = await broker.countConsumers();
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { signal } = new AbortController();
    const tooLate = new AbortController();
    const busy = [1, 129, 257, 385].map((from) => sut.use(from, signal, () => finished));
    const waiting = [513, 641].map((from) => sut.use(from, tooLate.signal, () => finished));
    const refusals = Promise.all(waiting.map((work) => expect(work).rejects.toThrow('too late')));
    tooLate.abort(new Error('too late'));
    finish();

    await Promise.all([...busy, refusals]);
    await sut.use(1, signal, (reader) => reader.read(128, 128));
    await eventually(async () => expect(await consumers.count()).toBe(4));
  });

  it('keeps the largest possible messages of all readers below the limit of nats-server for a connection', async () => {
    // The largest batch requested from each consumer.
    const batches = new Map<string, number>();
    broker.operator.subscribe('$JS.API.CONSUMER.MSG.NEXT.EVENTS.*', {
      callback: (_, { subject, data }) => {
        // Safe cast: the NATS client sends the batch with each pull request.
        const { batch } = JSON.parse(Buffer.from(data).toString()) as { batch: number };
        batches.set(subject, Math.max(batches.get(subject) ?? 0, batch));
      },
    });
    await broker.operator.flush();
    const { signal } = new AbortController();
    const feed = new EventFeed(stream, createLogger('test', 'silent'), new Registry(), broker.erased);
    feed.start();
    await feed.untilCurrent(signal);

    // Start in the middle of the stream, because readers are already idle at the first pages.
    const found = await Promise.all(
      [200, 300, 400, 500].map((from) =>
        sut.use(from, signal, (reader) => reader.read(from + 127, from + 127)),
      ),
    );
    await feed.stop();

    expect(found.map(({ messages }) => messages.length)).toEqual([128, 128, 128, 128]);
    await broker.operator.flush();
    expect(batches.size).toBe(5);
    const messages = [...batches.values()].reduce((sum, batch) => sum + batch);
    expect(messages * 256 * 1024).toBeLessThan(60 * 1024 * 1024);
  });
});
