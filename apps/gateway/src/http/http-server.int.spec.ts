import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { eventually } from '@stream-events/testing';
import { atMost } from '../../test/at-most.js';
import { openRawClient } from '../../test/raw-client.js';
import { addDirectRoute } from './direct-routes.js';
import { createHttpServer } from './http-server.js';
import { keepOpen } from './requests-in-progress.js';

const limit = 3;
// Shorter than the 60 s after which the server ends any silent connection.
const silenceTestMs = 50_000;

/** Starts a server that allows three requests in progress. Requests to `/slow` wait for `release()`. */
async function startServer(maxRequests = limit) {
  const fastify = createHttpServer(false, { requests: atMost(maxRequests) }).getInstance();
  const waiting: (() => void)[] = [];
  fastify.post('/slow', async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return 'done';
  });
  fastify.get('/large', () => Promise.resolve('x'.repeat(16 * 1024 ** 2)));
  fastify.get('/fast', () => Promise.resolve('done'));
  fastify.get('/open', (request, reply) => {
    keepOpen(request);
    keepOpen(request);
    reply.hijack();
    reply.raw.flushHeaders();
  });
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = fastify.server.address() as AddressInfo; // Safe cast: address() of a TCP server is an AddressInfo.
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    waiting,
    server: fastify.server,
    release: () => {
      for (const answer of waiting.splice(0)) answer();
    },
    close: () => fastify.close(),
  };
}

/** Sends part of a request, and waits until the server has read it. */
async function beginRequest({ port, server }: { port: number; server: Server }, bytes: string) {
  const taken = once(server, 'connection');
  const client = openRawClient(port, { bytes });
  const [socket] = (await taken) as [Socket]; // Safe cast: `connection` has this argument.
  await eventually(() => expect(socket.bytesRead).toBe(bytes.length));
  return client;
}

describe(createHttpServer.name, () => {
  it('rejects requests above the limit with 503 and Retry-After until others finish', async () => {
    const { url, waiting, release, close } = await startServer();
    const slow = Array.from({ length: limit }, () => fetch(`${url}/slow`, { method: 'POST' }));
    await eventually(() => expect(waiting).toHaveLength(limit));

    const body = 'x'.repeat(200_000);
    const headers = { 'content-type': 'application/json' };
    for (let round = 0; round < 2; round += 1) {
      const refused = await fetch(`${url}/slow`, { method: 'POST', body, headers });
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(refused.headers.get('x-request-id')).toMatch(/./);
      expect(await refused.json()).toMatchObject({ status: 503, title: 'Service Unavailable' });
    }
    expect(waiting).toHaveLength(limit);

    release();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(slow.map(() => 200));
    // The client sees the end of a response before the server stops counting the request.
    await eventually(async () => expect((await fetch(`${url}/fast`)).status).toBe(200));
    await close();
  });

  it('stops counting requests whose clients have disconnected', async () => {
    const { url, port, waiting, release, close } = await startServer();
    const sockets = Array.from({ length: limit }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets) socket.write('POST /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => expect(waiting).toHaveLength(limit));
    expect((await fetch(`${url}/fast`)).status).toBe(503);

    for (const socket of sockets) {
      socket.destroy();
      await once(socket, 'close');
    }

    await eventually(async () => expect((await fetch(`${url}/fast`)).status).toBe(200));
    release();
    await close();
  });

  it('stops counting pipelined requests when their client disconnects', async () => {
    const { url, port, waiting, release, close } = await startServer();
    const socket = connect(port, '127.0.0.1');
    const slow = 'POST /slow HTTP/1.1\r\nHost: x\r\n\r\n';
    socket.write(slow + 'GET /fast HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(limit));
    await eventually(() => expect(waiting).toHaveLength(1));
    expect((await fetch(`${url}/fast`)).status).toBe(503);

    socket.destroy();

    await eventually(async () => expect((await fetch(`${url}/fast`)).status).toBe(200));
    release();
    await close();
  });

  it('limits the requests in progress per connection', async () => {
    const { url, port, waiting, release, close } = await startServer(20);
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /slow HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50));
    await eventually(() => expect(waiting).toHaveLength(16));

    expect((await fetch(`${url}/fast`)).status).toBe(200);
    release();
    socket.destroy();
    await close();
  });

  it('closes connections of clients that do not read their responses', async () => {
    const { url, port, server, close } = await startServer();
    const ends: Socket[] = [];
    server.on('connection', (end: Socket) => ends.push(end));
    const sockets = Array.from({ length: limit }, () => connect(port, '127.0.0.1').pause());
    for (const socket of sockets) {
      socket.on('error', () => undefined);
      socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    }
    await eventually(() => expect(ends.filter((end) => end.writableLength > 0)).toHaveLength(limit));
    expect((await fetch(`${url}/fast`)).status).toBe(503);

    // Simulate 15 s.
    for (const end of ends.slice(0, limit)) {
      expect(end.timeout).toBe(15_000);
      end.emit('timeout');
    }

    await eventually(async () => expect((await fetch(`${url}/fast`)).status).toBe(200));
    for (const socket of sockets) socket.destroy();
    await close();
  });

  it('does not count responses that stay open, before and after they end', async () => {
    const { url, port, waiting, release, close } = await startServer();
    const sockets = Array.from({ length: limit + 1 }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets) {
      socket.write('GET /open HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'data');
    }
    const post = (): Promise<Response> => fetch(`${url}/slow`, { method: 'POST' });
    const slow = Array.from({ length: limit - 1 }, post);
    await eventually(() => expect(waiting).toHaveLength(limit - 1));
    expect((await fetch(`${url}/fast`)).status).toBe(200);

    for (const socket of sockets) {
      socket.destroy();
      await once(socket, 'close');
    }
    slow.push(post());
    await eventually(() => expect(waiting).toHaveLength(limit));
    expect((await fetch(`${url}/fast`)).status).toBe(503);
    release();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(slow.map(() => 200));
    await close();
  });

  it('responds to a request on an open connection while closing, and closes the connection with the response', async () => {
    const { url, port, server, close } = await startServer();
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    const answer = async (): Promise<string> => {
      socket.write('GET /fast HTTP/1.1\r\nHost: x\r\n\r\n');
      const [text] = (await once(socket, 'data')) as [string]; // Safe cast: the socket has an encoding.
      return text;
    };
    expect(await answer()).toMatch(/^HTTP\/1.1 200 [^]*connection: keep-alive/i);

    const closed = close();
    // The server now waits one second for requests on open connections.
    const deadline = performance.now() + 20_000;
    while (server.listening && performance.now() < deadline)
      await new Promise((resolve) => setImmediate(resolve));

    expect(await answer()).toMatch(/^HTTP\/1.1 200 [^]*connection: close/i);
    await once(socket, 'close');
    await expect(fetch(`${url}/fast`)).rejects.toThrow();
    await closed;
  });

  it('does not wait for silent connections while closing', async () => {
    const { port, close } = await startServer();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /fast HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');

    await Promise.all([close(), once(socket, 'close')]);
  });

  it(
    'does not wait for connections without a request while closing (browsers open such connections in advance)',
    async () => {
      const { port, server, close } = await startServer();
      const taken = once(server, 'connection');
      const socket = connect(port, '127.0.0.1').resume();
      await taken;

      await Promise.all([close(), once(socket, 'close')]);
    },
    silenceTestMs,
  );

  it.each([
    ['head', 'GET /fast HTTP/1.1\r\nHos'],
    [
      'body',
      'POST /slow HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n{',
    ],
  ])(
    'does not wait long for the rest of a %s while closing',
    async (_, bytes) => {
      const started = await startServer();
      const { closed, statuses } = await beginRequest(started, bytes);

      await Promise.all([started.close(), closed]);
      // A response would show that a time limit for heads or bodies ended the connection.
      expect(statuses()).toEqual([]);
    },
    silenceTestMs,
  );

  it(
    'finishes requests in progress when it ends unfinished ones while closing, and leaves WebSockets alone',
    async () => {
      const started = await startServer();
      const { port, waiting, server, release, close } = started;
      const unfinished = 'GET /fast HTTP/1.1\r\nHos';
      const busy = openRawClient(port, { bytes: `POST /slow HTTP/1.1\r\nHost: x\r\n\r\n${unfinished}` });
      const upgraded = once(server, 'upgrade');
      openRawClient(port, {
        bytes: 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      });
      const [, webSocket] = (await upgraded) as [unknown, Socket]; // Safe cast: `upgrade` has these arguments.
      await eventually(() => expect(waiting).toHaveLength(1));
      const slow = await beginRequest(started, unfinished);

      const closed = close();
      await slow.closed;
      release();
      await busy.closed;

      expect(busy.statuses()).toEqual([200]);
      expect(webSocket.destroyed).toBe(false);
      webSocket.destroy();
      await closed;
    },
    silenceTestMs,
  );

  it(
    'closes a connection while closing even if its last response did not announce this',
    async () => {
      const fastify = createHttpServer(false).getInstance();
      const waiting: (() => void)[] = [];
      addDirectRoute(fastify, '/message', {
        handle: () => new Promise((resolve) => waiting.push(() => resolve({ status: 204 }))),
        pattern: '/message',
        onClosed: () => undefined,
        onFailed: () => undefined,
      });
      await fastify.listen({ port: 0, host: '127.0.0.1' });
      const { port } = fastify.server.address() as AddressInfo; // Safe cast: address() of a TCP server is an AddressInfo.
      const bytes =
        'POST /message HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
      const client = openRawClient(port, { bytes });
      await eventually(() => expect(waiting).toHaveLength(1));
      const taken = once(fastify.server, 'connection');
      const silent = openRawClient(port);
      await taken;

      const closed = fastify.close();
      // The server has now closed its idle connections.
      await silent.closed;
      for (const answer of waiting) answer();

      await Promise.all([closed, client.closed]);
      expect(client.statuses()).toEqual([204]);
    },
    silenceTestMs,
  );

  // The gateway registers its features in an order that relies on this.
  it('prefers a fixed segment of a path to a parameter, in whichever order the routes are added', async () => {
    const fastify = createHttpServer(false).getInstance();
    fastify.get('/events/:id', () => Promise.resolve('parameter'));
    fastify.get('/events/stream', () => Promise.resolve('fixed'));
    fastify.get('/events/:type/test', () => Promise.resolve('type'));
    await fastify.listen({ port: 0, host: '127.0.0.1' });
    const { port } = fastify.server.address() as AddressInfo; // Safe cast: address() of a TCP server is an AddressInfo.
    const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}/events/${path}`)).text();

    expect(await Promise.all(['stream', 'other', 'stream/test'].map(ask))).toEqual([
      'fixed',
      'parameter',
      'type',
    ]);
    await fastify.close();
  });

  it('ends JSON with a newline, and nothing else', async () => {
    const cases: [payload: unknown, type: string, expected: string][] = [
      [{ a: 'é' }, 'application/json', '{"a":"é"}\n'],
      ['{"a":"é"}', 'application/json; charset=utf-8', '{"a":"é"}\n'],
      [Buffer.from('["é"]'), 'application/json', '["é"]\n'],
      ['{}', 'application/problem+json', '{}\n'],
      ['[]\n', 'application/json', '[]\n'],
      [Buffer.from('[]\n'), 'application/json', '[]\n'],
      ['pogchamp', 'text/plain', 'pogchamp'],
      [Buffer.from('{}'), 'application/octet-stream', '{}'],
    ];
    const fastify = createHttpServer(false).getInstance();
    for (const [index, [payload, type]] of cases.entries())
      fastify.get(`/${index}`, (_request, reply) => reply.type(type).send(payload));
    await fastify.listen({ port: 0, host: '127.0.0.1' });
    const { port } = fastify.server.address() as AddressInfo; // Safe cast: address() of a TCP server is an AddressInfo.
    for (const [index, [, , expected]] of cases.entries()) {
      const response = await fetch(`http://127.0.0.1:${port}/${index}`);
      const head = await fetch(`http://127.0.0.1:${port}/${index}`, { method: 'HEAD' });
      const length = String(Buffer.byteLength(expected));

      expect(await response.text()).toBe(expected);
      expect([index, response.headers.get('content-length')]).toEqual([index, length]);
      expect([index, head.headers.get('content-length')]).toEqual([index, length]);
    }
    await fastify.close();
  });
});
