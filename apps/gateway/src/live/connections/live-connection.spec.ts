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
afterEach(() => connections.forEach((connection) => connection.close('left')));

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
/** Tells all that they are alive, at each turn of the event loop. */
async function tellUntil(isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const connection of connections) connection.keepAlive(feed.head!);
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // holds: of V8, with that flag

describe(LiveConnection.name, () => {
  it('delivers what comes from now on, and says first where that is', async () => {
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
    ['the ring', () => undefined],
    ['the history', () => feed.forgetRing()],
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

  it('resumes with a filter, and from the very beginning', async () => {
    publish(10);
    const sink = connect({ after: `${epoch}-0-00000000`, filter: { eventTypes: ['a'] } });
    await untilReady(sink);

    expect(sink.sequences).toEqual([3, 6, 9]);
  });

  it.each([
    ['garbage', 'unknown_position', () => 'garbage'],
    ['empty', 'unknown_position', () => ''],
    ['beyond the end', 'unknown_position', () => after(11)],
    ['forged', 'unknown_position', () => `${epoch}-5-deadbeef`],
    ['forged and in the history', 'unknown_position', () => (feed.forgetRing(), `${epoch}-5-deadbeef`)],
    ['of another epoch', 'other_epoch', () => after(5, 'ffffffff')],
    ['older than the stream', 'expired', () => (feed.expire(), after(5))],
  ])('says that there is a gap, and goes on live, when the position is %s', async (_, reason, age) => {
    publish(10);
    const sink = connect({ after: age() });
    await untilReady(sink);
    publish(1);
    await eventually(() => expect(sink.sequences).toEqual([11]));

    expect(sink.received[0]).toEqual({ event: 'gap', reason });
  });

  it('has no gap when the position is the last before the beginning of the stream', async () => {
    publish(10);
    feed.expire();
    publish(2);
    const sink = connect({ after: after(10) });
    await untilReady(sink);

    expect(sink.sequences).toEqual([11, 12]);
  });

  it('keeps at most 1 MiB for a client that stops reading, and goes on where it stood when it reads again', async () => {
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

  it('keeps little of a page of large events in memory for a client that catches up and stops reading', async () => {
    const recordBytes = 100_000;
    const kept: WeakRef<LiveEvent>[] = [];
    const history = {
      read: ({ from, until }: { from: number; until: number }) => {
        const events = upTo(until, from).map((n) => makeEvent(epoch, n, 'x'.repeat(recordBytes)));
        kept.push(...events.map((event) => new WeakRef(event)));
        return Promise.resolve({ kind: 'events' as const, events, next: until + 1 });
      },
    };
    feed = new MadeFeed(history);
    feed.begin(epoch);
    publish(100);
    feed.forgetRing();
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

  it('cuts a client that takes nothing for long', async () => {
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

  it('cuts a client that was live and falls behind what the ring has', async () => {
    const sink = connect();
    await untilReady(sink);
    sink.stall();
    publish(30, 'x'.repeat(50_000));
    feed.forgetRing();
    await eventually(() => expect(sink.bufferedBytes).toBeGreaterThan(0));
    await eventually(() => {
      sink.bufferedBytes = 0;
      sink.read();
      expect(sink.closed).toBe('too_slow');
    });
  });

  it('says that there is a gap when the stream is made anew, and delivers all that is on it', async () => {
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
    ['finds its place', () => after(2), []],
    ['reads what it missed', () => `${epoch}-0-00000000`, [1, 2, 3]],
  ])('says that there is a gap when the stream is made anew while it %s', async (_, position, expected) => {
    publish(5);
    feed.forgetRing();
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
    ['finds its place', () => after(2), [3, 4, 5]],
    ['reads what it missed', () => `${epoch}-0-00000000`, [1, 2, 3, 4, 5]],
  ])('tries again when the broker is away while it %s', async (_, position, expected) => {
    publish(5);
    feed.forgetRing();
    feed.isAway = true;
    const sink = connect({ after: position() });
    await eventually(() => expect(feed.failedReads).toBeGreaterThan(0));
    feed.isAway = false;

    await eventually(() => expect(sink.sequences).toEqual(expected));
  });

  it('tells one that finds nothing for it for long how far it is, so that it can go on there', async () => {
    publish(200);
    feed.forgetRing();
    const sink = connect({ after: after(2), filter: { eventTypes: ['none'] }, keepAlive: true });
    await tellUntil(() => sink.received.length > 0);

    expect(sink.received[0]).toMatchObject({ event: 'keep_alive' });
    expect(upTo(199, 3).map((sequence) => after(sequence))).toContain(sink.received[0]?.position);
  });

  it('tells one that catches up of no place in a stream that is not there any more', async () => {
    publish(200);
    feed.forgetRing();
    const sink = connect({ after: after(2), filter: { eventTypes: ['none'] }, keepAlive: true });
    await tellUntil(() => sink.received.length > 0);
    feed.interrupt('ffffffff', 3);
    await tellUntil(() => sink.received.some((message) => 'event' in message && message.event === 'ready'));

    const gap = sink.received.findIndex((message) => 'reason' in message);
    const epochs = sink.received.map(({ position }) => position?.slice(0, 8));
    expect(new Set(epochs.slice(0, gap))).toEqual(new Set([epoch]));
    expect(new Set(epochs.slice(gap + 1))).toEqual(new Set(['ffffffff']));
  });

  it('goes on after a message that is no record', async () => {
    publish(2);
    feed.publishText('no JSON');
    publish(3);
    const sink = connect({ after: after(1), filter: { eventTypes: ['a', 'b', 'c'] } });
    await untilReady(sink);
    feed.publishText('{"event_data":');
    publish(1);

    await eventually(() => expect(sink.sequences).toEqual([2, 4, 5, 6, 8]));
  });

  it('replays to those whose filter lets it pass, without a position', async () => {
    const [all, some] = [connect(), connect({ filter: { eventTypes: ['b'] } })];
    await Promise.all([untilReady(all), untilReady(some)]);
    const { id, record } = makeEvent(epoch, 3);
    const results = connections.map((connection) => connection.replay(new LiveEvent(id, record, '', 0)));

    expect(results).toEqual(['sent', 'not wanted']);
    expect(all.received.at(-1)).toMatchObject({ event_type: 'a' });
    expect(all.received.at(-1)).not.toHaveProperty('position');
    expect(some.received).toHaveLength(1);
  });

  it('sends a slow client neither replays beyond 1 MiB nor what only says that it is alive', async () => {
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

  it('gives every client each of its events once and in order, whatever happens when', async () => {
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
          const request = type ? { filter: { eventTypes: [type] } } : {};
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
            // One that fell behind the ring has got all before.
            else expect(wanted.slice(0, sink.sequences.length)).toEqual(sink.sequences);
            expect(sink.highestBuffered).toBeLessThanOrEqual(maxBufferedBytes);
          }
        });
        connections.forEach((connection) => connection.close('left'));
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
