import { jest } from '@jest/globals';
import type { AddressInfo, Socket } from 'node:net';
import { ServiceError } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { atMost } from '../../test/at-most.js';
import { openRawClient, type RawClient } from '../../test/raw-client.js';
import type { TrustProxy } from '../gateway.config.js';
import { addDirectRoute } from './direct-routes.js';
import { largeResponseBytes, minBodyCost, type HttpLimits } from './http-limits.js';
import { createHttpServer } from './http-server.js';
import { sendProblem } from './problem.js';

const messagePath = '/api/v1/platform-events/webhook';

/** Stops the clock of the limits: the server refuses a message body after 2 s, and a busy machine may need longer for a test. */
function stopClock(): void {
  jest.spyOn(performance, 'now').mockReturnValue(performance.now());
}
afterEach(() => {
  jest.restoreAllMocks();
});

/** Limits that allow this number of bodies. */
const bodies = (total: number, perAddress: number) => ({
  total: total * minBodyCost,
  perAddress: perAddress * minBodyCost,
  patienceMs: Infinity,
});

/** The head of a POST request. Its body is missing. */
function head(path: string, length = 9, headers = ''): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${headers}\r\n`;
}

async function startServer(limits: Partial<HttpLimits> = {}, trustProxy: TrustProxy = false) {
  const fastify = createHttpServer(trustProxy, limits).getInstance();
  const held: (() => void)[] = [];
  fastify.post('/post', () => Promise.resolve('posted'));
  fastify.get('/held', () => new Promise((resolve) => held.push(() => resolve('done'))));
  fastify.get('/large', () => Promise.resolve('x'.repeat(16 * 1024 ** 2)));
  fastify.get('/list', () => Promise.resolve('x'.repeat(largeResponseBytes)));
  fastify.get('/fast', () => Promise.resolve('done'));
  fastify.post(
    '/private',
    { onRequest: (_request, reply) => sendProblem(reply, new ServiceError('unauthenticated', 'No token.')) },
    () => 'never',
  );
  fastify.post('/typed/webhook', { config: { receivesMessages: true } }, () => Promise.resolve('stored'));
  fastify.post(messagePath, { config: { receivesMessages: true } }, () => Promise.resolve('stored'));
  addDirectRoute(fastify, messagePath, {
    handle: () => Promise.resolve({ status: 204 }),
    pattern: messagePath,
    onClosed: () => undefined,
    onFailed: () => undefined,
  });
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = fastify.server.address() as AddressInfo; // Safe cast: address() of a TCP server is an AddressInfo.
  const clients: RawClient[] = [];
  const open = (bytes: string, from = '127.0.0.1'): RawClient => {
    const client = openRawClient(port, { from, bytes });
    clients.push(client);
    return client;
  };
  return {
    server: fastify.server,
    held,
    open,
    /** Sends a request and returns the status of the response. */
    status: async (bytes: string, from?: string): Promise<number | undefined> => {
      const client = open(bytes, from);
      await Promise.race([client.closed, eventually(() => expect(client.statuses()).toHaveLength(1))]);
      client.socket.destroy();
      return client.statuses()[0];
    },
    close: async () => {
      for (const { socket } of clients) socket.destroy();
      for (const end of held) end();
      await fastify.close();
    },
  };
}

const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

describe('limits of the HTTP server', () => {
  describe.each([
    ['bodies', '/post', 200],
    ['messageBodies', messagePath, 204],
    ['messageBodies', '/typed/webhook', 200],
  ] as const)('on %s that never arrive, at %s', (name, path, success) => {
    beforeEach(stopClock);

    it('refuse those of one address, and none of another', async () => {
      const { open, status, close } = await startServer({ [name]: bodies(10, 3) });
      const slow = Array.from({ length: 5 }, () => open(head(path), '127.0.0.2'));

      await eventually(() => expect(slow.flatMap(({ statuses }) => statuses())).toEqual([503, 503]));
      const refused = slow.filter(({ statuses }) => statuses().length > 0);
      await Promise.all(refused.map(({ closed }) => closed));
      expect(await status(`${head(path)}{"a": 12}`)).toBe(success);
      await close();
    });

    it('give room to the first body of any address, at the expense of the address that holds most', async () => {
      const { open, status, close } = await startServer({ [name]: bodies(6, 6) });
      const slow = [
        ...Array.from({ length: 4 }, () => open(head(path), '127.0.0.2')),
        ...Array.from({ length: 2 }, () => open(head(path), '127.0.0.3')),
      ];
      // The seventh request gets 503 only after the server has received the other six.
      await eventually(async () => expect(await status(head(path), '127.0.0.2')).toBe(503));
      const late = open(head(path), '127.0.0.4');

      await eventually(() => expect(slow.flatMap(({ statuses }) => statuses())).toEqual([503]));
      expect(slow.slice(4).flatMap(({ statuses }) => statuses())).toEqual([]);
      late.socket.write('{"a": 12}');
      await eventually(() => expect(late.statuses()).toEqual([success]));
      await close();
    });

    it('count a body until it has arrived or its client has left', async () => {
      const { open, status, close } = await startServer({ [name]: bodies(1, 1) });
      for (let count = 0; count < 3; count += 1) {
        const { socket, closed } = open(head(path));
        await eventually(async () => expect(await status(`${head(path)}{"a": 12}`)).toBe(503));
        socket.destroy();
        await closed;
        await eventually(async () => expect(await status(`${head(path)}{"a": 12}`)).toBe(success));
      }
      await close();
    });
  });

  it('do not let other bodies take the room of messages, or messages that of other bodies', async () => {
    stopClock();
    const { open, status, close } = await startServer({ bodies: bodies(1, 1), messageBodies: bodies(1, 1) });
    open(head('/post'));
    await eventually(async () => expect(await status(head('/post'))).toBe(503));
    expect(await status(`${head(messagePath)}{"a": 12}`)).toBe(204);
    open(head(messagePath));
    await eventually(async () => expect(await status(head(messagePath))).toBe(503));

    expect(await status(get('/fast'))).toBe(200);
    await close();
  });

  it.each([messagePath, '/typed/webhook'])('end messages to %s whose bodies do not arrive', async (path) => {
    const { open, close } = await startServer();
    const whole = '{"a": "b"}';
    const { statuses, text, closed, socket } = open(head(path, 10) + whole.slice(0, 5));

    await closed;

    expect(statuses()).toEqual([408]);
    expect(text()).toMatch(/connection: close/i);
    expect(JSON.parse(text().slice(text().indexOf('{')))).toMatchObject({ status: 408 });
    socket.destroy();
    await close();
  });

  it('check the times of heads and requests ten times per second', async () => {
    const { server, close } = await startServer();

    expect(server).toMatchObject({
      headersTimeout: 10_000,
      requestTimeout: 36_100,
      connectionsCheckingInterval: 100,
    });
    await close();
  });

  describe('on connections', () => {
    it('close those of an address above its limit, and none of another', async () => {
      const { open, status, close } = await startServer({
        connections: { total: 10, perAddress: 2, patienceMs: Infinity },
      });
      const held = [open(get('/held'), '127.0.0.2'), open(get('/held'), '127.0.0.2')];
      await eventually(async () => expect(await status(get('/fast'), '127.0.0.2')).toBeUndefined());

      expect(await status(get('/fast'))).toBe(200);
      held[0]?.socket.destroy();
      await eventually(async () => expect(await status(get('/fast'), '127.0.0.2')).toBe(200));
      await close();
    });

    it('close the oldest one of the address that has most, when there are too many', async () => {
      const { open, held, close } = await startServer({ connections: atMost(3) });
      const attackers = Array.from({ length: 3 }, () => open(get('/held'), '127.0.0.2'));
      await eventually(() => expect(held).toHaveLength(3));
      const other = open(get('/fast'));

      await eventually(() => expect(other.statuses()).toEqual([200]));
      await Promise.race(attackers.map(({ closed }) => closed));
      await close();
    });

    it('do not apply to trusted proxies', async () => {
      const { open, held, close } = await startServer(
        { connections: { total: 10, perAddress: 1, patienceMs: Infinity } },
        ['127.0.0.2'],
      );
      for (let count = 0; count < 3; count += 1) open(get('/held'), '127.0.0.2');

      await eventually(() => expect(held).toHaveLength(3));
      await close();
    });
  });

  describe('on requests in progress', () => {
    const requests = { total: 4, perAddress: 2, patienceMs: Infinity };

    it('refuse those of an address above its limit, and none of another', async () => {
      const { open, held, status, close } = await startServer({ requests });
      for (let count = 0; count < 2; count += 1) open(get('/held'), '127.0.0.2');
      await eventually(() => expect(held).toHaveLength(2));

      expect(await status(get('/fast'), '127.0.0.2')).toBe(503);
      expect(await status(get('/fast'))).toBe(200);
      await close();
    });

    it('count the forwarded address of a trusted proxy', async () => {
      stopClock();
      const { open, held, status, close } = await startServer({ requests, messageBodies: bodies(9, 1) }, [
        '127.0.0.2',
      ]);
      const via = (client: string): string => `X-Forwarded-For: 198.51.100.1, ${client}\r\n`;
      for (let count = 0; count < 2; count += 1) open(get('/held', via('192.0.2.7')), '127.0.0.2');
      await eventually(() => expect(held).toHaveLength(2));

      expect(await status(get('/fast', via('192.0.2.7')), '127.0.0.2')).toBe(503);
      expect(await status(get('/fast', via('192.0.2.8')), '127.0.0.2')).toBe(200);
      // A client that is not a trusted proxy cannot choose its address.
      for (let count = 0; count < 2; count += 1) open(get('/held', via('192.0.2.9')), '127.0.0.3');
      await eventually(() => expect(held).toHaveLength(4));
      expect(await status(get('/fast', via('192.0.2.10')), '127.0.0.3')).toBe(503);

      open(head(messagePath, 9, via('192.0.2.7')), '127.0.0.2');
      const message = (client: string) =>
        status(`${head(messagePath, 9, via(client))}{"a": 12}`, '127.0.0.2');
      await eventually(async () => expect(await message('192.0.2.7')).toBe(503));
      expect(await message('192.0.2.8')).toBe(204);
      await close();
    });

    it('end unread responses of the address that has most, when there are too many', async () => {
      const { open, server, status, close } = await startServer({ requests: atMost(3) });
      const ends: { writableLength: number }[] = [];
      server.on('connection', (end) => ends.push(end));
      const unread = Array.from({ length: 3 }, () => open('', '127.0.0.2'));
      for (const { socket } of unread) socket.pause().write(get('/large'));
      await eventually(() => expect(ends.filter((end) => end.writableLength > 0)).toHaveLength(3));

      expect(await status(get('/fast'))).toBe(200);
      await close();
    });
  });

  describe('on unread responses', () => {
    const unreadBytes = 16 * 1024 ** 2;

    it('refuse large ones of an address above its limit, and none of another', async () => {
      const responses = { total: 3 * unreadBytes, perAddress: unreadBytes, patienceMs: Infinity };
      const { open, status, close } = await startServer({ responses });
      const { socket } = open('', '127.0.0.2');
      socket.pause().write(get('/large'));
      await eventually(async () => expect(await status(get('/large'), '127.0.0.2')).toBe(503));

      expect(await status(get('/fast'), '127.0.0.2')).toBe(200);
      expect(await status(get('/large'))).toBe(200);
      socket.destroy();
      await eventually(async () => expect(await status(get('/large'), '127.0.0.2')).toBe(200));
      await close();
    });
  });

  it('close the connection after a large response that others wait behind', async () => {
    const { open, close } = await startServer();
    const { closed, statuses, text } = open(get('/list').repeat(3));

    await closed;

    expect(statuses()).toEqual([200]);
    expect(text()).toMatch(/^connection: close\r$/im);
    await close();
  });

  it('keep nothing of the large responses that a client has read', async () => {
    const { open, server, close } = await startServer();
    const ends: Socket[] = [];
    server.on('connection', (end) => ends.push(end));
    const { socket, statuses } = open('');
    await eventually(() => expect(ends).toHaveLength(1));
    const listeners = ends[0]?.listenerCount('close');
    for (let count = 1; count <= 12; count += 1) {
      socket.write(get('/list'));
      await eventually(() => expect(statuses()).toHaveLength(count));
    }

    await eventually(() => expect(ends[0]?.listenerCount('close')).toBe(listeners));
    await close();
  });

  describe('a response before the body has arrived', () => {
    it.each([
      ['404', '/unknown', '', 404],
      ['401', '/private', '', 401],
      ['413', '/post', 'Content-Length: 262145\r\n', 413],
      ['413 at the direct route', messagePath, 'Content-Length: 262145\r\n', 413],
      ['415', '/post', 'Content-Length: 9\r\nContent-Type: text/plain\r\n', 415],
      ['413 after 256 KiB in chunks', '/post', 'Transfer-Encoding: chunked\r\n', 413],
    ])('(%s) ends the connection', async (_what, path, headers, status) => {
      const { open, close } = await startServer();
      const lines = `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers.includes('Type') ? '' : 'Content-Type: application/json\r\n'}`;
      const length = headers.includes('Length') || headers.includes('chunked') ? '' : 'Content-Length: 9\r\n';
      const { socket, statuses, text, closed } = open(`${lines}${length}${headers}\r\n`);
      if (headers.includes('chunked')) {
        const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
        socket.write(chunk.repeat(5));
      }

      await closed;

      expect(statuses()).toEqual([status]);
      expect(text()).toMatch(/^connection: close\r$/im);
      await close();
    });

    it('reaches a client that sends the whole body before it reads', async () => {
      const { open, close } = await startServer();
      const body = 'x'.repeat(1024 ** 2);
      const { socket, statuses, closed } = open('');
      socket.pause();
      socket.write(head('/post', body.length));
      await new Promise<void>((resolve) => socket.write(body, () => resolve()));
      socket.resume();

      await closed;
      expect(statuses()).toEqual([413]);
      await close();
    });

    it('keeps the connection when the body arrives with its head', async () => {
      const { open, close } = await startServer();
      const { socket, statuses, text } = open(`${head('/unknown')}{"a": 12}`);
      await eventually(() => expect(statuses()).toEqual([404]));
      socket.write(`${head('/private')}{"a": 12}`);

      await eventually(() => expect(statuses()).toEqual([404, 401]));
      expect(text()).not.toMatch(/connection: close/i);
      await close();
    });
  });
});
