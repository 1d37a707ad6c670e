import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { WebSocket, WebSocketServer } from 'ws';
import { positionOf } from '../test/stream-server.js';
import { createClient, type LiveOptions } from './client.js';
import type { LiveEvent } from './live-event.js';
import type { Gap, LiveEvents, Retry } from './live-events.js';
import { WebSocketStream } from './web-socket-stream.js';

/** A connected client, as seen by the test's server. */
interface ServedClient {
  socket: WebSocket;
  url: string | undefined;
  /** The client's first message. */
  request: Record<string, unknown>;
}

const record = (index: number, event_data: object = {}) => ({
  id: `id-${index}`,
  event_data,
  position: positionOf(index),
});

describe(WebSocketStream.name, () => {
  let server: WebSocketServer;
  let served: ServedClient[];
  let running: LiveEvents | undefined;

  /** The n-th handler serves the n-th connection; the last handler serves all later ones. */
  const serve = async (...handlers: ((client: ServedClient) => unknown)[]): Promise<void> => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    served = [];
    server.on('connection', (socket, { url }) => {
      socket.once('message', (data: Buffer) => {
        const client = { socket, url, request: JSON.parse(data.toString()) as Record<string, unknown> };
        const handler = handlers[served.push(client) - 1] ?? handlers.at(-1)!;
        handler(client);
      });
    });
    await once(server, 'listening');
  };

  afterEach(async () => {
    await running?.return();
    for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  });

  const live = (options: LiveOptions = {}): LiveEvents => {
    const { port } = server.address() as AddressInfo; // Safe cast: the server listens on TCP.
    const client = createClient({ url: `http://127.0.0.1:${port}/base`, token: 'a-token', WebSocket });
    return (running = client.live({ transport: 'web-socket', ...options }));
  };

  const take = async (events: LiveEvents, count: number): Promise<(LiveEvent | undefined)[]> => {
    const taken: (LiveEvent | undefined)[] = [];
    while (taken.length < count) taken.push((await events.next()).value);
    return taken;
  };

  const send = ({ socket }: ServedClient, ...messages: object[]): void =>
    messages.forEach((message) => socket.send(JSON.stringify(message)));

  it('sends the token in the first message, and filters and name in the URL', async () => {
    await serve((client) => send(client, record(1)));
    const filters = { event_type: ['a b', 'c'] };
    const [event] = await take(live({ filters, name: 'console', after: positionOf(0) }), 1);
    expect(event).toEqual(record(1));
    expect(served[0]).toMatchObject({
      url: '/base/ws/platform-events/?event_type=a+b&event_type=c&name=console',
      request: { token: 'a-token', positions: true, keep_alive: true, after: positionOf(0) },
    });
  });

  it('resumes after the last message that it read, whether the connection breaks or the service restarts', async () => {
    await serve(
      (client) => {
        send(client, record(1));
        client.socket.terminate();
      },
      (client) => {
        send(client, record(2), { event: 'ready', position: positionOf(5) });
        client.socket.close(1012, 'restart');
      },
      (client) => send(client, record(6)),
    );
    const retries: Retry[] = [];
    const events = await take(live({ onRetry: (retry) => retries.push(retry) }), 3);
    expect(events.map((event) => event?.position)).toEqual([1, 2, 6].map(positionOf));
    expect(served.map(({ request }) => request.after)).toEqual([undefined, positionOf(1), positionOf(5)]);
    expect(retries.map(({ cause }) => String(cause))).toEqual([
      'Error: The connection was lost',
      'LiveError: 1012: restart',
    ]);
  });

  it('reports a gap, and ignores keep-alives and unknown controls', async () => {
    await serve((client) =>
      send(client, { event: 'gap', reason: 'expired' }, { event: 'keep_alive' }, { event: 'new' }, record(9)),
    );
    const gaps: Gap[] = [];
    await take(live({ onGap: (gap) => void gaps.push(gap) }), 1);
    expect(gaps).toEqual([{ reason: 'expired' }]);
  });

  it('asks for controls when there is a callback for them, and calls it', async () => {
    await serve((client) => send(client, { event: 'control', control: 'skip' }, record(1)));
    const controls: string[] = [];
    await take(live({ name: 'overlay', onControl: (control) => controls.push(control) }), 1);
    expect(controls).toEqual(['skip']);
    expect(served[0]?.url).toBe('/base/ws/platform-events/?name=overlay&controls=true');
  });

  it('connects again when the service rejects a token that the page sent too late', async () => {
    await serve(
      ({ socket }) => socket.close(4401, 'send a token'),
      (client) => send(client, record(1)),
    );
    let time = 0;
    // Advance the clock by 6 s per call, as in a page that is suspended during the handshake.
    const now = jest.spyOn(performance, 'now').mockImplementation(() => (time += 6_000));
    try {
      expect(await take(live(), 1)).toEqual([record(1)]);
    } finally {
      now.mockRestore();
    }
  });

  it('ends with an error when the token is not valid', async () => {
    await serve(({ socket }) => socket.close(4401, 'no valid token'));
    await expect(live().next()).rejects.toMatchObject({ name: 'LiveError', closeCode: 4401 });
    expect(served).toHaveLength(1);
  });

  it('reconnects when the connection is silent', async () => {
    await serve(
      () => undefined,
      (client) => send(client, record(1)),
    );
    const causes: string[] = [];
    await take(live({ silenceMs: 1_000, onRetry: ({ cause }) => causes.push(String(cause)) }), 1);
    expect(causes[0]).toBe('Error: The connection was silent for 1000 ms');
  });

  it('returns the messages that arrived, then reconnects, when too many messages wait', async () => {
    const padding = 'x'.repeat(1024 ** 2);
    const flood = (client: ServedClient) =>
      send(client, ...Array.from({ length: 40 }, (_, index) => record(index + 1, { padding })));
    await serve(flood, (client) => send(client, record(41)));
    const causes: string[] = [];
    const events = live({ onRetry: ({ cause }) => causes.push(String(cause)) });
    await take(events, 1);
    await eventually(() => expect(served[0]!.socket.readyState).toBe(WebSocket.CLOSED), {
      timeoutMs: 50_000,
    });
    const rest: (LiveEvent | undefined)[] = [];
    while (rest.at(-1)?.position !== positionOf(41)) rest.push(...(await take(events, 1)));
    expect(causes).toEqual(['Error: The client reads more slowly than events arrive']);
    const seen = rest.slice(0, -1).map((event) => event?.position);
    expect(seen).toEqual(seen.map((_, index) => positionOf(index + 2)));
    expect(seen.length).toBeGreaterThan(25);
    expect(served[1]!.request.after).toBe(seen.at(-1));
  });

  it('ends when the signal aborts, even if other events have already arrived', async () => {
    await serve((client) => send(client, record(1), record(2), record(3)));
    const stopping = new AbortController();
    const events = live({ signal: stopping.signal });
    await take(events, 2);
    stopping.abort();
    await expect(events.next()).rejects.toMatchObject({ name: 'AbortError' });
    expect(events.position).toBe(positionOf(2));
  });

  it('closes the socket when the iteration ends', async () => {
    await serve((client) => send(client, record(1)));
    for await (const _ of live()) break;
    await eventually(() => expect(served[0]!.socket.readyState).toBe(WebSocket.CLOSED));
  });
});
