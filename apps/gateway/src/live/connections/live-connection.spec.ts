import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '@stream-events/testing';
import fc from 'fast-check';
import { MadeFeed, MadeSink, makeEvent } from '../../../test/live-events.js';
import { FanOut } from './fan-out.js';
import { LiveEvent } from '../stream/live-event.js';
import { LiveConnection, type LiveRequest } from './live-connection.js';
import { positionOf, printPosition } from '../stream/position.js';
import { maxBufferedBytes } from '../live-limits.js';

const epoch = '1a2b3c4d';
let feed: MadeFeed;
let fanOut: FanOut;
let connections: LiveConnection[];

beforeEach(() => {
  setUp();
});
afterEach(() => connections.forEach((connection) => connection.leave()));

function setUp(): void {
  feed = new MadeFeed();
  feed.begin(epoch);
  fanOut = new FanOut(() => undefined);
  connections = [];
  feed.listen({
    onEvent: (event) => fanOut.publish(event),
    onInterrupted: (interruption) => {
      fanOut.flush();
      for (const connection of connections) connection.interrupt(interruption);
    },
  });
}

function connect(request: Partial<LiveRequest> = {}, sink = new MadeSink()): MadeSink {
  const connection = new LiveConnection({ filter: {}, keepAlive: false, ...request }, sink, {
    feed,
    history: feed.history,
    fanOut,
    onClosed: (closed) => (connections = connections.filter((other) => other !== closed)),
  });
  connections.push(connection);
  void connection.start();
  return sink;
}

const publish = (count: number, padding = ''): void => {
  for (let index = 0; index < count; index += 1) feed.publish(padding);
};
const after = (sequence: number, of = epoch): string => printPosition(positionOf(makeEvent(of, sequence)));
const upTo = (last: number, first = 1): number[] => Array.from({ length: last - first + 1 }, (_, index) => first + index); // prettier-ignore
const untilReady = (sink: MadeSink): Promise<void> =>
  eventually(() => expect(sink.received.at(-1)).toMatchObject({ event: 'ready' }));
/** Sends keep-alives to all connections at each turn of the event loop. */
async function tellUntil(isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const connection of connections) connection.keepAlive(feed.head!);
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // Safe cast: with this flag, V8 provides the function.

describe(LiveConnection.name, () => {
  it('sends `ready` with the position, then delivers new events', async () => {
    publish(3);
    const sink = connect();
    await untilReady(sink);
    publish(2);
    await eventually(() => expect(sink.sequences).toEqual([4, 5]));

    expect(sink.received[0]).toEqual({ event: 'ready', position: after(3) });
  });

  it('waits for the feed', async () => {
    feed.ringBuffer = undefined;
    const sink = connect();
    feed.begin(epoch);
    await untilReady(sink);
    publish(1);

    await eventually(() => expect(sink.sequences).toEqual([1]));
  });

  it.each([
    ['the ring buffer', () => undefined],
    ['the history', () => feed.forgetRingBuffer()],
  ])('resumes after a position from %s, without gap or duplicate', async (_, age) => {
    publish(20);
    age();
    publish(300);
    const sink = connect({ after: after(7) });
    await untilReady(sink);
    publish(3);

    await eventually(() => expect(sink.sequences).toEqual(upTo(323, 8)));
    expect(sink.received.filter((message) => 'event' in message)).toHaveLength(1);
  });

  it('sends keep-alives with its own position to a client that waits for its turn to catch up', () => {
    let endWait: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => {
      endWait = resolve;
    });
    const { read, rest } = feed.history;
    feed = new MadeFeed({ read: (place) => waiting.then(() => read(place)), rest });
    feed.begin(epoch);
    publish(20);
    feed.forgetRingBuffer();
    const sink = connect({ after: after(7), keepAlive: true });
    connections[0]?.keepAlive(feed.head!);
    expect(sink.received).toEqual([{ event: 'keep_alive', position: after(7) }]);
    endWait();
  });

  it('resumes with a filter, and from the start of the stream', async () => {
    publish(10);
    const sink = connect({ after: `${epoch}-0-00000000`, filter: { eventType: ['a'] } });
    await untilReady(sink);

    expect(sink.sequences).toEqual([3, 6, 9]);
  });

  it('sends a client with limits nothing else: catching up, live, and in replays', async () => {
    publish(10);
    const filter = { limits: { eventTypes: ['a', 'c'] }, eventType: ['a', 'b'] };
    const sink = connect({ after: `${epoch}-0-00000000`, filter });
    await untilReady(sink);
    publish(5);
    await eventually(() => expect(sink.sequences).toEqual([3, 6, 9, 12, 15]));
    const replays = [1, 2, 3].map((sequence) => makeEvent(epoch, sequence));

    expect(replays.map((event) => connections[0]?.replay(event))).toEqual([
      'filtered out',
      'filtered out',
      'sent',
    ]);
  });

  it.each([
    ['garbage', 'unknown_position', () => 'garbage'],
    ['empty', 'unknown_position', () => ''],
    ['beyond the end', 'unknown_position', () => after(11)],
    ['forged', 'unknown_position', () => `${epoch}-5-deadbeef`],
    ['forged and in the history', 'unknown_position', () => (feed.forgetRingBuffer(), `${epoch}-5-deadbeef`)],
    ['of another epoch', 'other_epoch', () => after(5, 'ffffffff')],
    ['older than the stream', 'expired', () => (feed.expire(), after(5))],
  ])('reports a gap, then delivers live events, when the position is %s', async (_, reason, age) => {
    publish(10);
    const sink = connect({ after: age() });
    await untilReady(sink);
    publish(1);
    await eventually(() => expect(sink.sequences).toEqual([11]));

    expect(sink.received[0]).toEqual({ event: 'gap', reason });
  });

  it('reports no gap when the position is right before the first event of the stream', async () => {
    publish(10);
    feed.expire();
    publish(2);
    const sink = connect({ after: after(10) });
    await untilReady(sink);

    expect(sink.sequences).toEqual([11, 12]);
  });

  it('keeps at most 1 MiB for a client that stops reading, and resumes there when it reads again', async () => {
    const sink = connect();
    await untilReady(sink);
    sink.stall();
    for (let count = 0; count < 40; count += 1) publish(1, 'x'.repeat(50_000));
    await eventually(() => expect(sink.bufferedBytes).toBeGreaterThan(maxBufferedBytes / 2));
    const taken = sink.sequences.length;
    sink.read();
    publish(1);

    await eventually(() => expect(sink.sequences).toEqual(upTo(41)));
    expect(taken).toBeLessThan(25);
    expect(sink.highestBuffered).toBeLessThanOrEqual(maxBufferedBytes);
    expect(sink.received.filter((message) => 'event' in message)).toHaveLength(1);
  });

  it('keeps only a part of a page of large events for a client that stops reading while it catches up', async () => {
    const recordBytes = 100_000;
    const kept: WeakRef<LiveEvent>[] = [];
    const history = {
      read: ({ from, until }: { from: number; until: number }) => {
        const events = upTo(until, from).map((n) => makeEvent(epoch, n, 'x'.repeat(recordBytes)));
        kept.push(...events.map((event) => new WeakRef(event)));
        return Promise.resolve({ kind: 'events' as const, events, next: until + 1 });
      },
      rest: () => undefined,
    };
    feed = new MadeFeed(history);
    feed.begin(epoch);
    publish(100);
    feed.forgetRingBuffer();
    const sink = new MadeSink();
    sink.stall();
    connect({ after: `${epoch}-0-00000000` }, sink);
    await eventually(() => expect(sink.sequences).toEqual([1]));

    await eventually(() => {
      collectGarbage();
      const count = kept.filter((event) => event.deref()).length;
      expect(count * recordBytes).toBeLessThanOrEqual(maxBufferedBytes);
    });
    sink.read();
    await eventually(() => expect(sink.sequences).toEqual(upTo(100)));
  });

  it('closes the connection of a client that reads nothing for 10 s', async () => {
    const sink = connect();
    await untilReady(sink);
    sink.stall();
    publish(30, 'x'.repeat(50_000));
    await eventually(() => expect(sink.bufferedBytes).toBeGreaterThan(0));
    await eventually(() => {
      sink.giveUp();
      expect(sink.closed).toBe('too_slow');
    });

    expect(connections).toEqual([]);
  });

  it('closes the connection of a live client that falls behind the ring buffer', async () => {
    const sink = connect();
    await untilReady(sink);
    sink.stall();
    publish(30, 'x'.repeat(50_000));
    feed.forgetRingBuffer();
    await eventually(() => expect(sink.bufferedBytes).toBeGreaterThan(0));
    await eventually(() => {
      sink.bufferedBytes = 0;
      sink.read();
      expect(sink.closed).toBe('too_slow');
    });
  });

  it('reports a gap when the stream is recreated, and delivers everything on the new stream', async () => {
    const sink = connect();
    await untilReady(sink);
    publish(2);
    feed.interrupt('ffffffff', 3);
    await untilReady(sink);
    publish(1);

    await eventually(() => expect(sink.sequences).toEqual([1, 2, 1, 2, 3, 4]));
    const controls = sink.received.filter((message) => 'event' in message);
    expect(controls).toMatchObject([{ event: 'ready' }, { event: 'gap', reason: 'other_epoch' }, { event: 'ready' }]); // prettier-ignore
  });

  it.each([
    ['is located', () => after(2), []],
    ['catches up', () => `${epoch}-0-00000000`, [1, 2, 3]],
  ])('reports a gap when the stream is recreated while a client %s', async (_, position, expected) => {
    publish(5);
    feed.forgetRingBuffer();
    const { read } = feed.history;
    feed.history.read = async (place) => {
      const page = await read(place);
      feed.history.read = read;
      feed.interrupt('ffffffff', 3);
      return page;
    };
    const sink = connect({ after: position() });
    await untilReady(sink);

    expect(sink.received[0]).toEqual({ event: 'gap', reason: 'other_epoch' });
    expect(sink.sequences).toEqual(expected);
  });

  it.each([
    ['is located', () => after(2), [3, 4, 5]],
    ['catches up', () => `${epoch}-0-00000000`, [1, 2, 3, 4, 5]],
  ])('retries when NATS is unavailable while a client %s', async (_, position, expected) => {
    publish(5);
    feed.forgetRingBuffer();
    feed.isAway = true;
    const sink = connect({ after: position() });
    await eventually(() => expect(feed.failedReads).toBeGreaterThan(0));
    feed.isAway = false;

    await eventually(() => expect(sink.sequences).toEqual(expected));
  });

  it('sends keep-alives with positions to a client whose filter passes nothing while it catches up', async () => {
    publish(200);
    feed.forgetRingBuffer();
    const sink = connect({ after: after(2), filter: { eventType: ['none'] }, keepAlive: true });
    await tellUntil(() => sink.received.length > 0);

    expect(sink.received[0]).toMatchObject({ event: 'keep_alive' });
    expect(upTo(199, 2).map((sequence) => after(sequence))).toContain(sink.received[0]?.position);
  });

  it('sends no position of a replaced stream to a client that catches up', async () => {
    publish(200);
    feed.forgetRingBuffer();
    const sink = connect({ after: after(2), filter: { eventType: ['none'] }, keepAlive: true });
    await tellUntil(() => sink.received.length > 0);
    feed.interrupt('ffffffff', 3);
    await tellUntil(() => sink.received.some((message) => 'event' in message && message.event === 'ready'));

    const gap = sink.received.findIndex((message) => 'reason' in message);
    const epochs = sink.received.map(({ position }) => position?.slice(0, 8));
    expect(new Set(epochs.slice(0, gap))).toEqual(new Set([epoch]));
    expect(new Set(epochs.slice(gap + 1))).toEqual(new Set(['ffffffff']));
  });

  it('continues after a message that is not a record', async () => {
    publish(2);
    feed.publishText('no JSON');
    publish(3);
    const sink = connect({ after: after(1), filter: { eventType: ['a', 'b', 'c'] } });
    await untilReady(sink);
    feed.publishText('{"event_data":');
    publish(1);

    await eventually(() => expect(sink.sequences).toEqual([2, 4, 5, 6, 8]));
  });

  it('sends a replay without a position to clients whose filters it passes', async () => {
    const [all, some] = [connect(), connect({ filter: { eventType: ['b'] } })];
    await Promise.all([untilReady(all), untilReady(some)]);
    const { id, record } = makeEvent(epoch, 3);
    const results = connections.map((connection) => connection.replay(new LiveEvent(id, record, '', 0)));

    expect(results).toEqual(['sent', 'filtered out']);
    expect(all.received.at(-1)).toMatchObject({ event_type: 'a' });
    expect(all.received.at(-1)).not.toHaveProperty('position');
    expect(some.received).toHaveLength(1);
  });

  it('sends a slow client neither replays beyond 1 MiB nor keep-alives', async () => {
    const sink = connect({ keepAlive: true });
    await untilReady(sink);
    sink.stall();
    const { id, record } = makeEvent(epoch, 3, 'x'.repeat(50_000));
    const results = Array.from({ length: 40 }, () =>
      connections[0]?.replay(new LiveEvent(id, record, '', 0)),
    );
    connections[0]?.keepAlive(feed.head!);

    expect([results[0], results.at(-1)]).toEqual(['sent', 'dropped']);
    expect(sink.highestBuffered).toBeGreaterThan(maxBufferedBytes / 2);
    expect(sink.highestBuffered).toBeLessThanOrEqual(maxBufferedBytes);
    expect(sink.received.at(-1)).toMatchObject({ event_type: 'a' });
  });

  it('delivers each event to each client once and in order, in any interleaving', async () => {
    const action = fc.oneof(
      { weight: 6, arbitrary: fc.record({ act: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 60 }), big: fc.boolean() }) }, // prettier-ignore
      { weight: 2, arbitrary: fc.record({ act: fc.constant('turn' as const) }) },
      {
        weight: 1,
        arbitrary: fc.record({ act: fc.constantFrom('stall' as const, 'read' as const, 'connect' as const) }),
      },
      { weight: 1, arbitrary: fc.record({ act: fc.constant('resume' as const), from: fc.nat() }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        setUp();
        const clients: { sink: MadeSink; first: number; type?: string }[] = [];
        for (const step of actions) {
          if (step.act === 'publish') publish(step.count, step.big ? 'x'.repeat(20_000) : '');
          if (step.act === 'turn') await new Promise((resolve) => setImmediate(resolve));
          if (step.act === 'stall') clients.at(-1)?.sink.stall();
          if (step.act === 'read') clients.forEach(({ sink }) => sink.read());
          const type = clients.length % 2 === 0 ? undefined : 'b';
          const request = type ? { filter: { eventType: [type] } } : {};
          if (step.act === 'connect')
            clients.push({ sink: connect(request), first: feed.nextSequence, ...(type && { type }) });
          if (step.act === 'resume' && feed.nextSequence > 1) {
            const position = 1 + (step.from % (feed.nextSequence - 1));
            const sink = connect({ ...request, after: after(position) });
            clients.push({ sink, first: position + 1, ...(type && { type }) });
          }
        }
        await eventually(() => {
          for (const { sink, first, type } of clients) {
            sink.read();
            const wanted = upTo(feed.nextSequence - 1, first).filter((n) => !type || n % 3 === 1);
            if (sink.closed === undefined) expect(sink.sequences).toEqual(wanted);
            // A client that fell behind the ring buffer has received every event up to that point.
            else expect(wanted.slice(0, sink.sequences.length)).toEqual(sink.sequences);
            expect(sink.highestBuffered).toBeLessThanOrEqual(maxBufferedBytes);
          }
        });
        connections.forEach((connection) => connection.leave());
      }),
      { numRuns: 150 },
    );
  }, 240_000);
});
