import { jest } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { EventsBroker, newIds } from '../../../test/events-broker.js';
import { LaggingReplica } from '../../../test/lagging-replica.js';
import { EventHistory, type HistoryPage } from './event-history.service.js';
import type { EventsStreamClient } from './events-stream-client.js';

let broker: EventsBroker;
let stream: EventsStreamClient;
let replica: LaggingReplica | undefined;
let metrics: Registry;
let history: EventHistory;
/** Everything that was logged, at any level. */
let logged: unknown[][];
/** The errors of failed reads. All callers that wait for the same page get the same error. */
let failures: Set<unknown>;

// Some tests read hundreds of pages, which takes minutes on a busy machine.
jest.setTimeout(240_000);
const maxAttempts = 6;
const retryMs = 100;

const epoch = '0ddba115';

beforeAll(async () => {
  broker = await EventsBroker.start();
});
beforeEach(async () => {
  metrics = new Registry();
  logged = [];
  failures = new Set();
  const logger = createLogger('test', 'silent');
  logger.info = logger.warn = (...line: unknown[]) => void logged.push(line);
  stream = await broker.connectGateway();
  history = new EventHistory(stream, logger, metrics, broker.erased);
  await broker.createStream(epoch);
});
afterEach(async () => {
  await broker.deleteStream().catch(() => undefined); // some tests delete it themselves
  await replica?.delete();
  replica = undefined;
});
afterAll(() => broker.close());

function readOnce(from: number, until: number): Promise<HistoryPage> {
  return history.read({ epoch, from, until }, new AbortController().signal);
}

/** Reads like a client that catches up: retries when a busy machine was too slow. */
async function read(from: number, until: number): Promise<HistoryPage> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await readOnce(from, until);
    } catch (error) {
      failures.add(error);
      if (attempt === maxAttempts) throw error;
      await wait(retryMs);
    }
  }
}

/** Reads all pages from a sequence to the end. */
async function walk(from: number, until: number): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let pages = 0;
  for (let next = from; next <= until; pages += 1) {
    const page = await read(next, until);
    if (page.kind !== 'events') throw new Error(page.kind);
    ids.push(...page.events.map(({ id }) => id));
    next = page.next;
  }
  return { ids, pages };
}

async function countPages(source: 'stream' | 'memory'): Promise<number> {
  const metric = await metrics.getSingleMetric('live_history_pages_total')?.get();
  return metric?.values.find(({ labels }) => labels.source === source)?.value ?? 0;
}

/** Expects that each page was read from the stream once. On a busy machine, a read can fail after it has read its page. */
async function expectPagesRead(count: number): Promise<void> {
  const pages = await countPages('stream');
  expect(pages).toBeGreaterThanOrEqual(count);
  expect(pages).toBeLessThanOrEqual(count + failures.size);
}

describe(EventHistory.name, () => {
  describe('read', () => {
    it('returns all events in order, between any two sequences, in pages that all clients share', async () => {
      const ids = newIds(600);
      await broker.publish(ids);

      expect(await walk(1, 600)).toEqual({ ids, pages: 5 });
      expect(await walk(100, 500)).toEqual({ ids: ids.slice(99, 500), pages: 4 });
      expect(await read(130, 600)).toMatchObject({ kind: 'events', next: 257 });
      expect(await read(600, 600)).toMatchObject({ kind: 'events', next: 601 });
      // The range 100 to 500 ends in the middle of the fourth page. The walk from 1 to 600 has already read this page completely.
      await expectPagesRead(5);
    });

    it('forgets messages of the next page that a reader has already fetched', async () => {
      await broker.publish(newIds(300));
      // A reader always fetches whole batches. Because of this hole, its last batch includes the first message of the next page.
      await broker.remove(50);
      expect(await read(1, 300)).toMatchObject({ kind: 'events', next: 129 });

      await broker.erase(129);
      history.forget();

      const page = await read(129, 300);
      const events = page.kind === 'events' ? page.events : [];
      expect(events.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 127 }, (_, index) => 130 + index),
      );
    });

    it('returns an event only once when it is on the stream twice', async () => {
      const ids = newIds(500);
      const { streams } = await broker.manage();
      await broker.publish(ids.slice(0, 300));
      // Retry until the stream's deduplication window has passed.
      await eventually(async () => {
        await broker.publish(ids.slice(299, 300));
        expect((await streams.info('EVENTS')).state.last_seq).toBe(301);
      });
      await broker.publish(ids.slice(100));
      const end = (await streams.info('EVENTS')).state.last_seq;
      expect(end).toBeGreaterThan(690);

      expect((await walk(1, end)).ids).toEqual(ids);
      expect((await walk(150, end)).ids).toEqual(ids.slice(149));
      // A client that has read up to the first copies does not receive the second copies.
      expect((await walk(301, end)).ids).toEqual(ids.slice(300));
    });

    it('returns it only once to clients that follow a client that started between the two copies', async () => {
      const ids = newIds(300);
      const { streams } = await broker.manage();
      await broker.publish(ids.slice(0, 128));
      await eventually(async () => {
        await broker.publish(ids.slice(127, 128));
        expect((await streams.info('EVENTS')).state.last_seq).toBe(129);
      });
      await broker.publish(ids.slice(100));
      const end = (await streams.info('EVENTS')).state.last_seq;

      // The second page is read and cached for a client that did not read the first page here.
      await walk(129, end);

      expect((await walk(1, end)).ids).toEqual(ids);
    });

    it('reads the last page again when the stream has more events than before', async () => {
      const ids = newIds(20);
      await broker.publish(ids.slice(0, 10));
      expect((await walk(1, 10)).ids).toEqual(ids.slice(0, 10));
      await broker.publish(ids.slice(10));

      const [shorter, longer] = await Promise.all([walk(1, 12), walk(1, 20)]);

      expect(shorter.ids).toEqual(ids.slice(0, 12));
      expect(longer.ids).toEqual(ids);
    });

    it('never reads beyond `until`, although the stream has more events', async () => {
      const ids = newIds(50);
      await broker.publish(ids);

      expect((await walk(1, 20)).ids).toEqual(ids.slice(0, 20));
    });

    it('reads a page once for a thousand concurrent callers, and from memory after that', async () => {
      await broker.publish(newIds(600));
      const consumers = await broker.countConsumers();

      const pages = await Promise.all(Array.from({ length: 1_000 }, () => read(200, 600)));

      expect(new Set(pages.map((page) => page.kind === 'events' && page.next))).toEqual(new Set([257]));
      await expectPagesRead(1);
      await Promise.all(Array.from({ length: 1_000 }, () => read(150, 600)));
      await expectPagesRead(1);
      await eventually(async () => expect(await consumers.count()).toBeGreaterThan(0));
      // Each read that timed out creates one more consumer.
      expect(await consumers.count()).toBeLessThan(3 + failures.size);
    });

    it('serves a thousand clients at different positions with four consumers at a time', async () => {
      const ids = newIds(5_000);
      await broker.publish(ids);
      const consumers = await broker.countConsumers();

      const walks = await Promise.all(
        Array.from({ length: 1_000 }, (_, index) => walk(1 + 4 * index, 5_000)),
      );

      const asExpected = walks.filter((walked, index) => walked.ids.join() === ids.slice(4 * index).join());
      expect(asExpected).toHaveLength(1_000);
      // 40 pages, each read once, except pages whose read timed out on a slow machine.
      expect(await countPages('stream')).toBeGreaterThanOrEqual(40);
      expect(await countPages('stream')).toBeLessThan(80 + failures.size);
      expect(await consumers.count()).toBeLessThan(80 + failures.size);
      // On a slow machine, the request to delete a consumer can fail. The consumer then expires after 30 s.
      const afterExpiry = { timeoutMs: 40_000 };
      await eventually(async () => {
        const { state } = await (await broker.manage()).streams.info('EVENTS');
        expect(state.consumer_count).toBeLessThanOrEqual(4);
      }, afterExpiry);
    });

    it('needs one consumer for one client that reads page after page', async () => {
      await broker.publish(newIds(1_500));
      const consumers = await broker.countConsumers();

      await walk(1, 1_500);

      await expectPagesRead(12);
      await eventually(async () => expect(await consumers.count()).toBeGreaterThan(0));
      // Each read that timed out creates one more consumer.
      expect(await consumers.count()).toBeLessThan(6 + failures.size);
    });

    it('reports another epoch', async () => {
      await broker.publish(newIds(300));
      await walk(1, 128);
      await broker.writeEpoch('1badcafe');

      expect(await read(130, 300)).toEqual({ kind: 'other_epoch' });

      await broker.deleteStream();
      await broker.createStream('2badcafe');
      await broker.publish(newIds(300));
      // The reader's consumer was deleted with the stream.
      await eventually(async () => expect(await read(257, 300)).toEqual({ kind: 'other_epoch' }));
    });

    it.each([
      ['begins within the page', 50, 200],
      ['begins after the page', 50, 300],
      ['is empty', 50, 401],
    ])('reports expired when the stream %s', async (_, from, firstSequence) => {
      await broker.publish(newIds(400));
      await broker.expire(firstSequence);

      expect(await read(from, 400)).toEqual({ kind: 'expired', firstSequence });
      if (firstSequence <= 400)
        expect((await walk(firstSequence, 400)).ids).toHaveLength(401 - firstSequence);
    });

    it('reports expired when a reader had a part of the page, but not the messages that left after it', async () => {
      await broker.publish(newIds(400));
      // Makes the first fetch also return a part of the second page.
      await broker.removeAll(Array.from({ length: 119 }, (_, index) => 2 + index));
      expect(await read(1, 400)).toMatchObject({ kind: 'events', next: 129 });
      await broker.expire(252);

      expect(await read(129, 400)).toEqual({ kind: 'expired', firstSequence: 252 });
      expect((await walk(252, 400)).ids).toHaveLength(149);
    });

    it('handles holes in the stream', async () => {
      const ids = newIds(700);
      await broker.publish(ids);
      const removed = new Set([1, 2, 128, 129, 200, 699, 700]);
      // A hole that is longer than a page.
      for (let sequence = 250; sequence < 520; sequence += 1) removed.add(sequence);
      removed.delete(2);
      await broker.removeAll(removed);

      const { ids: walked, pages } = await walk(2, 700);

      expect(walked).toEqual(ids.filter((_, index) => index >= 1 && !removed.has(index + 1)));
      expect(pages).toBe(6);
      expect(await read(129, 700)).toMatchObject({ kind: 'events', next: 257 });
      expect(await read(700, 700)).toEqual({ kind: 'events', events: [], next: 701 });
    });

    it.each([
      ['nothing', 0, 1],
      ['a part of the page', 7, 1],
      ['only earlier pages', 100, 129],
    ])('does not skip events when a server that is catching up has %s', async (_, count, from) => {
      const ids = newIds(300);
      await broker.publish(ids);
      replica = await LaggingReplica.create(broker, ids.slice(0, count));
      replica.takeNextConsumer(stream);

      await expect(readOnce(from, 300)).rejects.toThrow('catching up');

      expect((await walk(from, 300)).ids).toEqual(ids.slice(from - 1));
    });

    it('does not skip events when a server that is catching up delivers earlier messages first', async () => {
      const ids = newIds(300);
      await broker.publish(ids);
      replica = await LaggingReplica.create(broker, ids.slice(0, 100));
      replica.takeNextConsumer(stream, async () => replica?.receive(ids.slice(100, 110)));

      await expect(readOnce(129, 300)).rejects.toThrow('catching up');

      expect((await walk(129, 300)).ids).toEqual(ids.slice(128));
    });

    it('fails within seconds while NATS is unavailable, and works again afterwards', async () => {
      const ids = newIds(300);
      await broker.publish(ids);
      expect(await read(1, 300)).toMatchObject({ next: 129 });
      await broker.nats.kill();

      const startedAt = performance.now();
      await expect(readOnce(129, 300)).rejects.toThrow();
      expect(performance.now() - startedAt).toBeLessThan(15_000); // 5 s, plus a margin for a busy machine
      // Cached pages need no NATS.
      expect(await read(1, 300)).toMatchObject({ next: 129 });

      await broker.nats.restart();
      await eventually(async () => expect((await walk(1, 300)).ids).toEqual(ids), { timeoutMs: 35_000 });
    });

    it("throws the signal's reason without affecting other callers", async () => {
      const ids = newIds(10);
      await broker.publish(ids);
      const ending = new AbortController();

      const given = history.read({ epoch, from: 1, until: 10 }, ending.signal);
      const other = read(1, 10);
      ending.abort(new Error('the client has gone'));

      await expect(given).rejects.toThrow('the client has gone');
      expect(await other).toMatchObject({ kind: 'events', next: 11 });
    });
  });
});
