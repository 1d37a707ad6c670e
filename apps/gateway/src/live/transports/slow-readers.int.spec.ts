import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@stream-events/testing';
import { LiveEdges } from '../../../test/live-edges.js';
import { LiveConnections } from '../connections/live-connections.service.js';
import { maxBufferedBytes } from '../live-limits.js';

// The connection of a client that reads nothing closes after 10 s, and its socket is destroyed within another 5 s. The limits leave room
// for late timers.
const limitMs = 180_000;
const untilClosed = { timeoutMs: 60_000, intervalMs: 20 };
const untilDestroyed = { timeoutMs: 30_000 };
// Longer than the test, because paused clients send no pongs and the service would end their connections.
const pingMs = 600_000;
const textBytes = 32 * 1024;

describe('clients that stop reading', () => {
  let edges: LiveEdges;
  let token: string;
  /** The server side of all connections, in order. */
  let sockets: Socket[];
  let mostBuffered: number;

  beforeAll(async () => {
    edges = await LiveEdges.create();
    await edges.start({ sockets: { pingMs } });
    ({ token } = await edges.register());
    sockets = [];
    edges.server.on('connection', (socket: Socket) => sockets.push(socket));
  });

  afterAll(async () => {
    await edges.stop();
    await edges.dispose();
  });

  /** Opens a stream that reads only on demand. */
  async function openPausedStream(name = ''): Promise<{ socket: Socket; text: () => string }> {
    const socket = connect(Number(new URL(edges.url).port), '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const head = `GET /api/v1/platform-events/stream?name=${name} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${token}\r\n\r\n`;
    socket.write(head);
    await once(socket, 'data');
    socket.pause().on('error', () => undefined);
    return { socket, text: () => text };
  }

  /** Lets a paused client read as soon as the service has closed its connection. The service waits 5 s for the client. */
  async function readWhenClosed(name: string, socket: { resume(): unknown }): Promise<void> {
    await eventually(() => {
      const { closed } = edges.app.get(LiveConnections).report();
      assert(closed.some((connection) => connection.name === name));
    }, untilClosed);
    socket.resume();
  }

  const publish = (): string =>
    edges.feed.publish({ event_data: { text: 'x'.repeat(textBytes) } }).record.toString();

  /** Publishes at the pace of the reading client, until the buffer of every paused client is full. */
  async function flood(reader: { messages: string[] }): Promise<string[]> {
    const published: string[] = [];
    for (let round = 0; round < 50; round += 1) {
      for (let count = 0; count < 8; count += 1) published.push(publish());
      // Not `expect`, which would format megabytes at each failed attempt.
      await eventually(() => assert.equal(reader.messages.length, published.length), { intervalMs: 1 });
      mostBuffered = Math.max(mostBuffered, ...sockets.map((socket) => socket.writableLength));
    }
    return published;
  }

  it(
    'cost at most 1 MiB, are closed with 4408, and slow down no other client',
    async () => {
      mostBuffered = 0;
      const reader = await edges.connect({ token });
      await edges.untilLive(1);
      const [lost, late] = [await edges.connect({ token }), await edges.connect({ token, name: 'late' })];
      const [lostStream, lateStream] = [await openPausedStream(), await openPausedStream('late-stream')];
      await edges.untilLive(5);
      lost.socket.pause();
      late.socket.pause();

      const [published] = await Promise.all([
        flood(reader),
        readWhenClosed('late', late.socket),
        readWhenClosed('late-stream', lateStream.socket),
        once(lateStream.socket, 'end'),
      ]);
      expect(mostBuffered).toBeGreaterThan(maxBufferedBytes / 2);
      // Before a write, the service counts neither what HTTP adds to a chunk nor the message that closes the stream.
      expect(mostBuffered).toBeLessThan(maxBufferedBytes + 64 * 1024);

      await eventually(async () => expect(await edges.liveCount()).toBe(1), untilClosed);
      expect(await late.closed).toMatchObject({ code: 4408, reason: expect.stringContaining('too slowly') });
      expect(late.messages).toEqual(published.slice(0, late.messages.length));
      expect(lateStream.text()).toMatch(
        /event: closed\ndata: \{"code":4408,"reason":"[^"]+"\}\n\n\r\n0\r\n\r\n$/,
      );

      // Not `expect`, which would print the sockets.
      await eventually(
        () => assert.equal(sockets.filter(({ destroyed }) => !destroyed).length, 1),
        untilDestroyed,
      );
      expect(reader.messages).toEqual(published);
      lost.socket.terminate();
      lostStream.socket.destroy();
    },
    limitMs,
  );

  it(
    'are closed on server-sent events even when little data waits and no event follows',
    async () => {
      await edges.untilLive(1);
      const { socket, text } = await openPausedStream();
      await edges.untilLive(2);
      const server = sockets.at(-1)!;
      while (server.writableLength === 0) {
        publish();
        // After one turn of the event loop, the operating system has buffered as much as it can.
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(server.writableLength).toBeLessThan(maxBufferedBytes / 2);

      await eventually(async () => {
        // If the operating system has enlarged its buffer, fill the buffer again.
        if (server.writableLength === 0) publish();
        expect(await edges.liveCount()).toBe(1);
      }, untilClosed);
      const ended = once(socket, 'end');
      socket.resume();
      await ended;
      expect(text()).toContain('event: closed\ndata: {"code":4408');
    },
    limitMs,
  );
});
