import { eventually, freePort } from '@stream-events/testing';
import fc from 'fast-check';
import {
  closedBlock,
  eventBlock,
  gapBlock,
  positionBlock,
  positionOf,
  StreamServer,
  type StreamConnection,
} from '../test/stream-server.js';
import { createClient, type LiveOptions } from './client.js';
import { EventStream } from './event-stream.js';
import type { LiveError } from './live-error.js';
import type { LiveEvent } from './live-event.js';
import { LiveEvents, type Gap, type Retry } from './live-events.js';

const token = 'a-token';

describe(LiveEvents.name, () => {
  let server: StreamServer;
  const stops: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });

  /** Starts a server. The n-th handler serves the n-th connection; the last handler serves all later ones. */
  const serve = async (...handlers: ((connection: StreamConnection) => unknown)[]): Promise<void> => {
    server = await StreamServer.start((connection, index) =>
      (handlers[index] ?? handlers.at(-1)!)(connection),
    );
    stops.push(() => server.stop());
  };

  const live = (options: LiveOptions = {}): LiveEvents => {
    const events = createClient({ url: server.url, token }).live(options);
    stops.push(() => events.return());
    return events;
  };

  /** Returns live events that reconnect without waiting. */
  const liveAtOnce = (after?: string): LiveEvents => {
    const url = `${server.url}/api/v1/platform-events/stream`;
    const request = { fetch, url, headers: {}, silenceMs: 45_000 };
    const events = new LiveEvents(
      (signal) => new EventStream(request, signal),
      {},
      after,
      () => 0,
    );
    stops.push(() => events.return());
    return events;
  };

  const take = async (events: LiveEvents, count: number): Promise<LiveEvent[]> => {
    const taken: LiveEvent[] = [];
    while (taken.length < count) {
      const { value, done } = await events.next();
      if (done) throw new Error(`the events ended after ${taken.length}`);
      taken.push(value);
    }
    return taken;
  };

  const positionsOf = (events: readonly LiveEvent[]) => events.map(({ position }) => position);
  const positions = (first: number, last: number): string[] =>
    Array.from({ length: last - first + 1 }, (_, index) => positionOf(first + index));

  describe('events', () => {
    it('are the records with their positions', async () => {
      await serve((connection) => connection.send(eventBlock(1, { big: '☕'.repeat(100_000) })));
      const [event] = await take(live(), 1);
      expect(event).toEqual({
        id: 'id-1',
        event_id: null,
        event_type: 'channel-raid',
        event_source: 'PlatformSub',
        event_data: { big: '☕'.repeat(100_000) },
        created: '2026-11-21T07:30:00+0000',
        origin: 'platform',
        position: positionOf(1),
      });
    });

    it('are requested with token, filters, and name', async () => {
      await serve((connection) => connection.send(eventBlock(1)));
      const filters = { event_type: ['a b', 'c&d'], user_name: 'Mira', origin: undefined };
      await take(live({ filters, name: 'überlay' }), 1);
      const { url, headers } = server.connections[0]!.request;
      const { pathname, searchParams } = new URL(url!, server.url);
      expect(pathname).toBe('/api/v1/platform-events/stream');
      expect([...searchParams]).toEqual([
        ['event_type', 'a b'],
        ['event_type', 'c&d'],
        ['user_name', 'Mira'],
        ['name', 'überlay'],
      ]);
      expect(headers).toMatchObject({ authorization: `Token ${token}` });
      expect(headers).not.toHaveProperty('last-event-id');
    });

    it('have no position if they are replays, which do not change the current position', async () => {
      const replay = eventBlock(1).replace(/^id: .*\n/, '');
      await serve((connection) => connection.send(eventBlock(3) + replay));
      const events = live();
      expect(positionsOf(await take(events, 2))).toEqual([positionOf(3), undefined]);
      expect(events.position).toBe(positionOf(3));
    });

    it('are ignored if their kind is unknown', async () => {
      await serve((connection) => connection.send('event: news\ndata: {}\n\n' + eventBlock(1)));
      expect(positionsOf(await take(live(), 1))).toEqual(positions(1, 1));
    });
  });

  describe('resume', () => {
    const count = 6;
    const blocks = (after: number): string =>
      positions(after + 1, count)
        .map((_, index) => {
          const place = after + 1 + index;
          return eventBlock(place) + (place % 2 === 0 ? positionBlock(place) : '');
        })
        .join('');
    const indexOf = ({ after }: StreamConnection): number => Number(after?.split('-')[1] ?? 0);

    /** Serves events from each client's position. Cuts the first connections after these numbers of bytes. */
    const serveCut = (cuts: readonly { bytes: number; isClean: boolean }[]): Promise<void> =>
      serve(
        ...cuts.map(({ bytes, isClean }) => async (connection: StreamConnection) => {
          await connection.send(Buffer.from(blocks(indexOf(connection))).subarray(0, bytes));
          if (isClean) connection.end();
          else connection.cut();
        }),
        (connection) => connection.send(blocks(indexOf(connection))),
      );

    it('returns each event once and in order, wherever the stream is cut', async () => {
      const small = [1, 2].map((index) => `id: ${positionOf(index)}\ndata: {"text":\ndata: "☕"}\n\n`);
      let bytes = 0;
      server = await StreamServer.start(async (connection, index) => {
        const all = Buffer.from(small.slice(indexOf(connection)).join(''));
        await connection.send(index % 2 === 0 ? all.subarray(0, bytes) : all);
        if (index % 2 === 0) connection.cut();
      });
      stops.push(() => server.stop());
      for (; bytes <= Buffer.byteLength(small.join('')); bytes += 1) {
        server.connections.length = 0;
        const events = liveAtOnce();
        expect(positionsOf(await take(events, 2))).toEqual(positions(1, 2));
        await events.return();
      }
    });

    it('returns each event once and in order, however often the stream is cut', async () => {
      const cut = fc.record({ bytes: fc.nat(1_200), isClean: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(fc.array(cut, { maxLength: 8 }), fc.nat(count - 1), async (cuts, after) => {
          await serveCut(cuts);
          const events = liveAtOnce(after === 0 ? undefined : positionOf(after));
          expect(positionsOf(await take(events, count - after))).toEqual(positions(after + 1, count));
          await events.return();
          await server.stop();
          stops.length = 0;
        }),
        { numRuns: 60 },
      );
    }, 180_000); // hundreds of connections

    it('has the position of the last event that was returned, not of the last one that arrived', async () => {
      await serve((connection) => connection.send(blocks(0)));
      const events = live();
      await take(events, 2);
      expect(events.position).toBe(positionOf(2));
    });

    it('starts at the position of a block without an event', async () => {
      await serve(
        async (connection) => {
          await connection.send(positionBlock(40));
          connection.end();
        },
        (connection) => connection.send(eventBlock(41)),
      );
      await take(live(), 1);
      expect(server.connections.map(({ after }) => after)).toEqual([undefined, positionOf(40)]);
    });

    it('reports a gap before the next event, which waits for the callback', async () => {
      await serve((connection) => connection.send(gapBlock('expired') + eventBlock(9)));
      const gaps: Gap[] = [];
      const onGap = async (gap: Gap): Promise<void> => {
        await new Promise(setImmediate);
        gaps.push(gap);
      };
      const events = live({ after: positionOf(1), onGap });
      expect(positionsOf(await take(events, 1))).toEqual([positionOf(9)]);
      expect(gaps).toEqual([{ reason: 'expired' }]);
      expect(server.connections[0]!.after).toBe(positionOf(1));
    });

    it('throws the error of a callback', async () => {
      await serve((connection) => connection.send(gapBlock('expired') + eventBlock(9)));
      const onGap = (): never => {
        throw new Error('no gap, please');
      };
      const events = live({ onGap });
      await expect(events.next()).rejects.toThrow('no gap, please');
      expect(await events.next()).toEqual({ value: undefined, done: true });
      await eventually(() => expect(server.connections[0]!.isClosed).toBe(true));
    });
  });

  describe('connections', () => {
    /** Returns the client's first retry after the first connection got this response. */
    const retryAfter = async (
      first: (connection: StreamConnection) => unknown,
      silenceMs?: number,
    ): Promise<Retry> => {
      await serve(first, (connection) => connection.send(eventBlock(1)));
      const retries: Retry[] = [];
      await take(live({ onRetry: (retry) => retries.push(retry), silenceMs }), 1);
      // On a slow machine, the client can reach a short silence limit more than once.
      if (silenceMs === undefined) expect(retries).toHaveLength(1);
      return retries[0]!;
    };

    it.each([
      [401, 'No valid token.'],
      [403, 'Not for you.'],
      [400, 'since: must be an ISO 8601 time'],
      [404, 'There is nothing at this path.'],
    ])('are not retried after %d; the error has the problem document', async (status, detail) => {
      await serve((connection) => connection.refuse(status, {}, { detail }));
      const events = live();
      const problem = { type: 'about:blank', title: 'refused', status, detail };
      await expect(events.next()).rejects.toMatchObject({ name: 'LiveError', status, problem });
      expect(await events.next()).toEqual({ value: undefined, done: true });
      expect(server.connections).toHaveLength(1);
    });

    it('are not retried at an address without live events', async () => {
      await serve(({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'));
      await expect(live().next()).rejects.toThrow('200: expected an event stream, got text/html');
    });

    it.each([404, 200])('of a proxy (%d) are retried after the client was connected', async (status) => {
      await serve(
        async (connection) => {
          await connection.send(eventBlock(1));
          connection.cut();
        },
        ({ response }) => response.writeHead(status, { 'content-type': 'text/plain' }).end('no service'),
        (connection) => connection.send(eventBlock(2)),
      );
      const [first, second] = await take(liveAtOnce(), 2);
      expect([first?.id, second?.id]).toEqual(['id-1', 'id-2']);
    });

    it.each([429, 503])('wait for the time in Retry-After after %d', async (status) => {
      const startedAt = performance.now();
      const { cause, delayMs } = await retryAfter((connection) =>
        connection.refuse(status, { 'retry-after': '1' }),
      );
      expect(cause).toMatchObject({ status, problem: { detail: 'not now' } });
      expect(delayMs).toBeGreaterThanOrEqual(1_000);
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_000);
    });

    it.each([1012, 1013, 4408])('reopen after close code %d', async (code) => {
      const { cause, delayMs } = await retryAfter(async (connection) => {
        await connection.send(closedBlock(code, 'reconnect'));
        connection.end();
      });
      expect(cause).toMatchObject({ closeCode: code, message: `${code}: reconnect` });
      expect(delayMs).toBeLessThanOrEqual(500);
    });

    it.each([4400, 4401, 4403])('throw an error after close code %d', async (code) => {
      await serve((connection) => connection.send(eventBlock(1) + closedBlock(code, 'no valid token')));
      const events = live();
      await take(events, 1);
      const error: Partial<LiveError> = { closeCode: code, message: `${code}: no valid token` };
      await expect(events.next()).rejects.toMatchObject({ name: 'LiveError', ...error });
      expect(server.connections).toHaveLength(1);
    });

    it('reopen after a response that is not valid', async () => {
      const { cause } = await retryAfter((connection) => connection.send('data: {"id"\n\n'));
      expect(cause).toMatchObject({ message: 'The event stream sent data that is not valid JSON' });
    });

    it.each([
      ['before the response', () => undefined],
      ['after the response', (connection: StreamConnection) => connection.send('')],
      ['after a position', (connection: StreamConnection) => connection.send(positionBlock(1))],
    ])('are closed after a long silence %s', async (_when, first) => {
      const { cause } = await retryAfter(first, 1_000);
      expect(cause).toMatchObject({ message: 'The connection was silent for 1000 ms' });
      await eventually(() => expect(server.connections[0]!.isClosed).toBe(true));
    });

    it('are retried until the service is up, and then reported once', async () => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const reports: string[] = [];
      const events = createClient({ url, token }).live({
        onRetry: () => reports.push('retry'),
        onConnect: () => reports.push('connected'),
      });
      const next = take(events, 1);
      await eventually(() => expect(reports.length).toBeGreaterThan(1));
      server = await StreamServer.start((connection) => connection.send(eventBlock(1)), port);
      stops.push(() => server.stop());
      expect(positionsOf(await next)).toEqual(positions(1, 1));
      await events.return();
      expect([reports.at(-1), reports.indexOf('connected')]).toEqual(['connected', reports.length - 1]);
    });

    it('wait longer each time until an event arrives', async () => {
      const cut = (connection: StreamConnection): unknown => connection.cut();
      let cutLater = (): void => undefined;
      const serveAndCut = (connection: StreamConnection): Promise<void> => {
        cutLater = () => connection.cut();
        return connection.send(eventBlock(1));
      };
      await serve(cut, cut, serveAndCut, cut, (connection) => connection.send(eventBlock(2)));
      const waits: number[] = [];
      const url = `${server.url}/`;
      const request = { fetch, url, headers: {}, silenceMs: 45_000 };
      const events = new LiveEvents(
        (signal) => new EventStream(request, signal),
        {},
        undefined,
        (attempts) => {
          waits.push(attempts);
          return 0;
        },
      );
      await take(events, 1);
      cutLater(); // cut only after an event was returned: unreturned events can be lost with their connection
      await take(events, 1);
      await events.return();
      expect(waits).toEqual([0, 1, 0, 1]);
    });
  });

  describe('a slow reader', () => {
    it('makes the service wait, and still receives everything', async () => {
      const total = 600;
      const padding = 'x'.repeat(128 * 1024);
      let sent = 0;
      await serve(async (connection) => {
        for (; sent < total; sent += 1) await connection.send(eventBlock(sent + 1, { padding }));
      });
      const events = live();
      const first = await take(events, 1);
      let before = -1;
      const expectStalled = (): void => {
        const [last, now] = [before, sent];
        before = now;
        expect(now).toBe(last);
      };
      await eventually(expectStalled, { timeoutMs: 60_000, intervalMs: 300 });
      // The socket buffers of both sides hold far less than the total of 75 MiB.
      expect(sent).toBeLessThan(total / 3);
      const rest = await take(events, total - 1);
      expect(positionsOf([...first, ...rest])).toEqual(positions(1, total));
      expect(server.connections).toHaveLength(1);
    }, 180_000); // 75 MiB
  });

  describe('the iteration', () => {
    const serveOne = (): Promise<void> => serve((connection) => connection.send(eventBlock(1)));

    const expectClosed = (): Promise<void> =>
      eventually(() => expect(server.connections.map(({ isClosed }) => isClosed)).toEqual([true]));

    it('ends with break, which closes the connection', async () => {
      await serveOne();
      for await (const event of live()) {
        expect(event.position).toBe(positionOf(1));
        break;
      }
      await expectClosed();
    });

    it('ends with return() while next() waits for an event', async () => {
      await serveOne();
      const events = live();
      await take(events, 1);
      const next = events.next();
      await events.return();
      expect(await next).toEqual({ value: undefined, done: true });
      await expectClosed();
    });

    it("throws the signal's reason while next() waits for an event", async () => {
      await serveOne();
      const stopping = new AbortController();
      const events = live({ signal: stopping.signal });
      await take(events, 1);
      const next = events.next();
      const reason = new Error('the bot stops');
      stopping.abort(reason);
      await expect(next).rejects.toBe(reason);
      await expectClosed();
    });

    it('ends when the signal aborts, even if another event has already arrived', async () => {
      await serve((connection) => connection.send(eventBlock(1) + eventBlock(2)));
      const stopping = new AbortController();
      const events = live({ signal: stopping.signal });
      await take(events, 1);
      stopping.abort();
      await expect(events.next()).rejects.toMatchObject({ name: 'AbortError' });
    });

    it('ends when the signal aborts during the wait before a reconnect', async () => {
      await serve((connection) => connection.refuse(503, { 'retry-after': '60' }));
      const stopping = new AbortController();
      const onRetry = () => setImmediate(() => stopping.abort());
      const events = live({ signal: stopping.signal, onRetry });
      await expect(events.next()).rejects.toMatchObject({ name: 'AbortError' });
      expect(server.connections).toHaveLength(1);
    });

    it('ends without connecting when the signal was already aborted', async () => {
      await serveOne();
      await expect(live({ signal: AbortSignal.abort() }).next()).rejects.toMatchObject({
        name: 'AbortError',
      });
      expect(server.connections).toEqual([]);
    });
  });
});
