import { jest } from '@jest/globals';
import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { EventsBroker, newIds } from '../../../test/events-broker.js';
import { EventFeed, type Interruption } from './event-feed.service.js';

let broker: EventsBroker;
const feeds: EventFeed[] = [];

beforeAll(async () => {
  broker = await EventsBroker.start();
});
afterEach(async () => {
  await Promise.all(feeds.splice(0).map((feed) => feed.stop()));
  await broker.deleteStream().catch(() => undefined); // some tests have no stream
});
afterAll(() => broker.close());

// Far longer than the slowest steps: a restart of NATS, or an epoch that is written last.
const untilCurrentLimitMs = 100_000;

const oldEpoch = '0ddba115';
const newEpoch = '1badcafe';

/** A feed of one gateway, and what it reports. */
class Listening {
  readonly ids: string[] = [];
  readonly sequences: number[] = [];
  readonly interruptions: Interruption[] = [];
  /** The events of a client that is connected from the start. After an interruption, the client reads the ring buffer. */
  readonly delivered: string[] = [];

  private constructor(
    readonly feed: EventFeed,
    readonly metrics: Registry,
  ) {
    feed.listen({
      onEvent: ({ id, sequence }) => {
        this.ids.push(id);
        this.sequences.push(sequence);
        this.delivered.push(id);
      },
      onInterrupted: (interruption) => {
        this.interruptions.push(interruption);
        this.delivered.push(...this.ringIds(interruption.nextSequence));
      },
    });
  }

  static async start(): Promise<Listening> {
    const metrics = new Registry();
    const feed = new EventFeed(
      await broker.connectGateway(),
      createLogger('test', 'silent'),
      metrics,
      broker.erased,
    );
    const listening = new Listening(feed, metrics);
    feeds.push(feed);
    feed.start();
    return listening;
  }

  /** Starts a feed and waits until it has read the stream. */
  static async current(): Promise<Listening> {
    const listening = await Listening.start();
    await listening.untilCurrent();
    return listening;
  }

  untilCurrent(): Promise<void> {
    return this.feed.untilCurrent(AbortSignal.timeout(untilCurrentLimitMs));
  }

  ringIds(from = 1): string[] {
    return this.feed.ringBuffer?.slice(from, 100_000).map(({ id }) => id) ?? [];
  }

  async measure(name: string): Promise<number | undefined> {
    return (await this.metrics.getSingleMetric(name)?.get())?.values[0]?.value;
  }

  async untilInDoubt(): Promise<void> {
    await eventually(async () => expect(await this.measure('live_feed_in_doubt')).toBe(1));
  }
}

describe(EventFeed.name, () => {
  describe('reading', () => {
    it('reports every event of a burst once, in order', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      const ids = newIds(5_000);

      await broker.publish(ids);

      await listening.untilCurrent();
      expect(listening.ids).toEqual(ids);
      expect(listening.sequences).toEqual(ids.map((_, index) => index + 1));
      expect(listening.ringIds()).toEqual(ids);
      expect(listening.interruptions).toEqual([]);
      // After a disturbance, such as a stopped process, the feed reads from its last message again, so the count can be higher.
      expect(await listening.measure('live_feed_messages_total')).toBeGreaterThanOrEqual(5_000);
    });

    it('begins with the newest 5,000 events, and does not report them', async () => {
      await broker.createStream(oldEpoch);
      const ids = newIds(5_200);
      await broker.publish(ids);

      const listening = await Listening.current();

      expect(listening.ringIds()).toEqual(ids.slice(200));
      expect(listening.ids).toEqual([]);
      const check = ids.at(-1)?.slice(-8);
      expect(listening.feed.head).toEqual({ epoch: oldEpoch, sequence: 5_200, check });
      expect(listening.feed.nextSequence).toBe(5_201);
      expect(listening.feed.ringBuffer?.firstSequence).toBe(201);
    });

    it('has no ring buffer before the stream exists, and reads a stream that appears later with an epoch', async () => {
      const listening = await Listening.start();
      const waiting = listening.untilCurrent();
      expect(listening.feed.ringBuffer).toBeUndefined();
      await broker.createStream(undefined);
      await broker.publish(newIds(1));
      await listening.untilInDoubt();
      expect(listening.feed.head).toBeUndefined();

      await broker.writeEpoch(oldEpoch);

      await waiting;
      expect(listening.feed.head).toMatchObject({ epoch: oldEpoch, sequence: 1 });
      expect(await listening.measure('live_feed_in_doubt')).toBe(0);
    });

    it('is at the start of an empty stream', async () => {
      await broker.createStream(oldEpoch);

      const listening = await Listening.current();

      expect(listening.feed.head).toEqual({ epoch: oldEpoch, sequence: 0, check: '00000000' });
    });

    it('drops an event that the stream has twice', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      const [first = '', second = '', third = ''] = newIds(3);
      await broker.publish([first, second]);

      // Retry until the stream's deduplication window has passed.
      await eventually(async () => {
        await broker.publish([first]);
        await listening.untilCurrent();
        expect(listening.feed.nextSequence).toBe(4);
      });
      await broker.publish([third]);

      await listening.untilCurrent();
      expect(listening.ids).toEqual([first, second, third]);
      expect(listening.sequences).toEqual([1, 2, 4]);
    });

    it('continues after a time without events that outlasts a pull request', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      await broker.publish(newIds(10));
      await listening.untilCurrent();
      let silentMs = 0;
      const silentSince = performance.now();
      await eventually(
        () => {
          silentMs = performance.now() - silentSince;
          expect(silentMs).toBeGreaterThan(11_500);
        },
        { timeoutMs: 30_000 },
      );

      await broker.publish(newIds(300));

      await eventually(() => expect(listening.ids).toHaveLength(310));
    });
  });

  describe('when the consumer is gone', () => {
    it('continues after the last message', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      const ids = newIds(30);
      await broker.publish(ids.slice(0, 10));
      await listening.untilCurrent();

      await broker.deleteConsumers();
      await broker.publish(ids.slice(10));

      await eventually(() => expect(listening.ids).toEqual(ids));
      expect(listening.interruptions).toEqual([]);
    });
  });

  describe('when the stream is replaced', () => {
    it('reports other_epoch, then the undelivered events, and nothing twice', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      const ids = newIds(40);
      await broker.publish(ids.slice(0, 30));
      await listening.untilCurrent();

      await broker.deleteStream();
      await broker.createStream(newEpoch);
      await broker.publish(ids.slice(20));

      await eventually(() => expect(listening.delivered).toEqual(ids));
      await broker.publish(newIds(1, -1_000));
      await eventually(() => expect(listening.delivered).toHaveLength(41));
      expect(listening.interruptions).toEqual([{ reason: 'other_epoch', nextSequence: 1 }]);
      expect(listening.feed.head).toMatchObject({ epoch: newEpoch, sequence: 21 });
    });

    it('drops events older than all known ones, as after a restored backup', async () => {
      await broker.createStream(oldEpoch);
      const known = newIds(10);
      await broker.publish(known);
      const listening = await Listening.current();
      const [fresh = ''] = newIds(1, -5_000);

      await broker.deleteStream();
      await broker.createStream(newEpoch);
      await broker.publish([...newIds(20, 3_600_000), ...known, fresh]);

      await eventually(() => expect(listening.delivered).toEqual([fresh]));
      await broker.publish(newIds(3, 1_800_000));
      await listening.untilCurrent();
      expect(listening.delivered).toEqual([fresh]);
    });

    it('reports nothing twice when epochs follow each other', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      const ids = newIds(20);
      await broker.publish(ids.slice(0, 10));
      await listening.untilCurrent();

      for (const [epoch, count] of [
        [newEpoch, 15],
        ['2badcafe', 20],
      ] as const) {
        await broker.deleteStream();
        await broker.createStream(epoch);
        await broker.publish(ids.slice(0, count));
        await eventually(() => expect(listening.delivered).toEqual(ids.slice(0, count)));
      }

      expect(listening.interruptions.map(({ reason }) => reason)).toEqual(['other_epoch', 'other_epoch']);
    });

    it('notices a new epoch while it reads', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      const ids = newIds(12);
      await broker.publish(ids.slice(0, 10));
      await listening.untilCurrent();

      await broker.writeEpoch(newEpoch);

      await eventually(() => expect(listening.feed.head).toMatchObject({ epoch: newEpoch, sequence: 10 }));
      await broker.publish(ids.slice(10));
      await eventually(() => expect(listening.delivered).toEqual(ids));
      expect(listening.interruptions).toEqual([{ reason: 'other_epoch', nextSequence: 1 }]);
    });
  });

  describe('when the stream has lost its tail', () => {
    it('waits for the new epoch, and ignores events that arrive before it', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      const ids = newIds(20);
      await broker.publish(ids.slice(0, 10));
      await listening.untilCurrent();
      await broker.deleteStream();
      await broker.createStream(oldEpoch);
      await broker.publish(ids.slice(0, 7));
      await listening.untilInDoubt();
      let isCurrent = false;
      const waiting = listening.untilCurrent().then(() => {
        isCurrent = true;
      });

      // A publisher that has not noticed the loss publishes more events, so another event gets the sequence of the last event.
      const consumers = await broker.countConsumers();
      await broker.publish(ids.slice(12));
      // At each check, the feed's consumer delivers the other event.
      await eventually(async () => expect(await consumers.count()).toBeGreaterThan(2), { timeoutMs: 60_000 });
      expect(listening.delivered).toEqual(ids.slice(0, 10));
      expect(listening.feed.head).toMatchObject({ epoch: oldEpoch, sequence: 10 });
      expect(isCurrent).toBe(false);

      await broker.writeEpoch(newEpoch);
      await broker.publish(ids.slice(10, 12));

      await waiting;
      await eventually(() => expect([...listening.delivered].sort()).toEqual(ids));
      expect(listening.interruptions).toEqual([{ reason: 'other_epoch', nextSequence: 1 }]);
      expect(await listening.measure('live_feed_in_doubt')).toBe(0);
    });
  });

  describe('when NATS is unavailable', () => {
    it('continues without a hole or a repeat, including the events that arrived before it reconnected', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      const ids = newIds(30);
      await broker.publish(ids.slice(0, 10));
      await listening.untilCurrent();

      for (const count of [20, 30]) {
        // Shut down cleanly, so that NATS writes everything to disk.
        await broker.nats.restart();
        await eventually(() => broker.publish(ids.slice(count - 10, count)));
        await listening.untilCurrent();
        expect(listening.ids).toEqual(ids.slice(0, count));
      }
      expect(listening.interruptions).toEqual([]);
    });

    it('keeps its state while a killed NATS server is down, and misses nothing that the stream still has', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      const ids = newIds(30);
      await broker.publish(ids.slice(0, 10));
      await listening.untilCurrent();

      await broker.nats.kill();
      await listening.untilInDoubt();
      expect(listening.feed.head).toMatchObject({ sequence: 10 });
      const waiting = listening.untilCurrent();
      await broker.nats.restart();

      await waiting;
      await broker.publish(ids.slice(10));
      await listening.untilCurrent();
      expect(listening.delivered).toEqual(ids);
      expect(listening.interruptions).toEqual([]);
    });

    it('reports expired when messages left the stream unread, and continues with the oldest one', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      const ids = newIds(30);
      await broker.publish(ids.slice(0, 10));
      await listening.untilCurrent();
      broker.hold(true);
      await broker.deleteConsumers();
      await listening.untilInDoubt();
      await broker.publish(ids.slice(10));
      await broker.expire(25);

      broker.hold(false);

      await listening.untilCurrent();
      expect(listening.interruptions).toEqual([{ reason: 'expired', nextSequence: 25 }]);
      expect(listening.delivered).toEqual([...ids.slice(0, 10), ...ids.slice(24)]);
      expect(listening.feed.ringBuffer?.firstSequence).toBe(25);
    });

    it('continues without a gap when only messages that it has read left the stream', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      const ids = newIds(30);
      await broker.publish(ids.slice(0, 10));
      await listening.untilCurrent();
      broker.hold(true);
      await broker.deleteConsumers();
      await listening.untilInDoubt();
      await broker.publish(ids.slice(10));
      await broker.expire(11);

      broker.hold(false);

      await listening.untilCurrent();
      expect(listening.delivered).toEqual(ids);
      expect(listening.interruptions).toEqual([]);
    });
  });

  describe('untilCurrent', () => {
    it('makes few requests for a thousand callers that wait together, and resolves all of them', async () => {
      await broker.createStream(oldEpoch);
      const listening = await Listening.current();
      let requests = 0;
      const counting = broker.operator.subscribe('$JS.API.STREAM.INFO.EVENTS', {
        callback: () => {
          requests += 1;
        },
      });
      await broker.operator.flush();
      const ids = newIds(100);
      await broker.publish(ids);

      await Promise.all(Array.from({ length: 1_000 }, () => listening.untilCurrent()));

      expect(listening.ids).toEqual(ids);
      await broker.operator.flush();
      expect(requests).toBeGreaterThan(0);
      // The feed sends one or two requests for all callers, and one for its own check every second.
      expect(requests).toBeLessThan(50);
      counting.unsubscribe();
    });

    it('resolves when the last messages of the stream were removed', async () => {
      await broker.createStream(oldEpoch);
      await broker.publish(newIds(10));
      await broker.remove(9);
      await broker.remove(10);

      const listening = await Listening.current();

      expect(listening.feed.nextSequence).toBe(11);
      expect(listening.feed.head).toMatchObject({ sequence: 8 });
    });

    it("throws the signal's reason, at once or while it waits", async () => {
      const listening = await Listening.start();
      const ending = new AbortController();
      const waiting = listening.feed.untilCurrent(ending.signal);

      ending.abort(new Error('the client has gone'));

      await expect(waiting).rejects.toThrow('the client has gone');
      await expect(listening.feed.untilCurrent(ending.signal)).rejects.toThrow('the client has gone');
    });
  });

  describe('check', () => {
    it('fails with the cause when the stream could not be read for 30 s', async () => {
      const listening = await Listening.start();
      const clock = jest.spyOn(performance, 'now');
      const now = performance.now();
      clock.mockReturnValue(now + 25_000);
      await expect(listening.feed.check()).resolves.toBeUndefined();

      clock.mockReturnValue(now + 30_000);
      await eventually(() =>
        expect(listening.feed.check()).rejects.toThrow(
          // 30 s, plus the time between the start of the feed and the test's first look at the clock.
          /could not be read for 3\d s: the EVENTS stream does not exist/,
        ),
      );
      clock.mockRestore();

      await broker.createStream(oldEpoch);
      await listening.untilCurrent();
      await expect(listening.feed.check()).resolves.toBeUndefined();
    });
  });
});
