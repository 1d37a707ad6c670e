import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { eventually } from '@stream-events/testing';
import { openRawClient } from '../../test/raw-client.js';
import { addDirectRoute } from './direct-routes.js';
import { createHttpServer } from './http-server.js';
import { takeWebSocketUpgrades } from './web-socket-upgrades.js';

// Shorter than the 60 s after which the server ends any silent connection.
const silenceTestMs = 50_000;

/** Starts a server on which requests to `/slow` wait for `release()`. */
async function startServer() {
  const fastify = createHttpServer(false).getInstance();
  const waiting: (() => void)[] = [];
  fastify.post('/slow', async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return 'done';
  });
  fastify.get('/large', () => Promise.resolve('x'.repeat(16 * 1024 ** 2)));
  fastify.get('/fast', () => Promise.resolve('done'));
  fastify.post('/fast', ({ body }) => Promise.resolve(body === undefined ? 'no body' : 'a body'));
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
  it.each(['application/octet-stream', 'application/json'])(
    'ignores the content type %s of an empty body',
    async (type) => {
      const { url, close } = await startServer();
      const headers = { 'content-type': type };
      const answers = [
        await fetch(`${url}/fast`, { method: 'POST', headers }),
        await fetch(`${url}/fast`, { method: 'POST', headers, body: '{}' }),
      ];
      expect(await answers[0]?.text()).toBe('no body');
      expect(answers.map(({ status }) => status)).toEqual([200, type === 'application/json' ? 200 : 415]);
      await close();
    },
  );

  it('closes the connection of a client that reads nothing for a minute', async () => {
    const { port, server, close } = await startServer();
    const taken = once(server, 'connection');
    const socket = connect(port, '127.0.0.1').pause();
    socket.on('error', () => undefined).write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    const [end] = (await taken) as [Socket]; // Safe cast: `connection` has this argument.
    await eventually(() => expect(end.writableLength).toBeGreaterThan(0));

    expect(end.timeout).toBe(60_000);
    // Simulate that the time is over.
    end.emit('timeout');

    expect(end.destroyed).toBe(true);
    socket.destroy();
    await close();
  });

  it.each([
    ['bytes that are not HTTP', '', 'garbage\r\n\r\n'],
    ['a request after the last one', 'Connection: close\r\n', 'GET /fast HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('answers a request that is followed by %s', async (_, headers, bytes) => {
    const { port, waiting, release, close } = await startServer();
    const { statuses, closed } = openRawClient(port, {
      bytes: `POST /slow HTTP/1.1\r\nHost: x\r\n${headers}\r\n${bytes}`,
    });
    await eventually(() => expect(waiting).toHaveLength(1));

    release();

    await closed;
    expect(statuses()).toEqual([200]);
    await close();
  });

  it('writes no error into a response that has begun', async () => {
    const { port, close } = await startServer();
    const { socket, closed, text } = openRawClient(port, { bytes: 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n' });
    await once(socket, 'data');
    socket.pause().write('garbage\r\n\r\n');

    socket.resume();
    await closed;
    expect(text().match(/HTTP\/1\.1/g)).toHaveLength(1);
    await close();
  });

  it('responds to a request on an open connection while closing, and closes the connection with the response', async () => {
    const { url, port, close } = await startServer();
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    const answer = async (): Promise<string> => {
      socket.write('GET /fast HTTP/1.1\r\nHost: x\r\n\r\n');
      const [text] = (await once(socket, 'data')) as [string]; // Safe cast: the socket has an encoding.
      return text;
    };
    expect(await answer()).toMatch(/^HTTP\/1.1 200 [^]*connection: keep-alive/i);

    const closed = close();
    // The server now waits one second for requests.
    await new Promise((resolve) => setImmediate(resolve));

    expect((await fetch(`${url}/fast`)).headers.get('connection')).toBe('close');
    expect(await answer()).toMatch(/^HTTP\/1.1 200 [^]*connection: close/i);
    await Promise.all([closed, once(socket, 'close')]);
    await expect(fetch(`${url}/fast`)).rejects.toThrow();
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
      const upgraded = new Promise<Duplex>((resolve) =>
        takeWebSocketUpgrades(server, '/ws', (_request, socket) => resolve(socket)),
      );
      openRawClient(port, {
        bytes: 'GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      });
      const webSocket = await upgraded;
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
