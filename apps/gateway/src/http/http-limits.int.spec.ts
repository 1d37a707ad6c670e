import type { AddressInfo } from 'node:net';
import { ServiceError } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { openRawClient, type RawClient } from '../../test/raw-client.js';
import type { TrustProxy } from '../gateway.config.js';
import { addDirectRoute } from './direct-routes.js';
import { minBodyCost, type HttpLimits } from './http-limits.js';
import { createHttpServer } from './http-server.js';
import { sendProblem } from './problem.js';

const messagePath = '/api/v1/platform-events/webhook';

/** Limits that allow this number of bodies. */
const bodies = (total: number, perAddress: number) => ({
  total: total * minBodyCost,
  perAddress: perAddress * minBodyCost,
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
    it('refuse those of one address, and none of another', async () => {
      const { open, status, close } = await startServer({ [name]: bodies(10, 3) });
      const slow = Array.from({ length: 5 }, () => open(head(path), '127.0.0.2'));

      await eventually(() => expect(slow.flatMap(({ statuses }) => statuses())).toEqual([503, 503]));
      const refused = slow.filter(({ statuses }) => statuses().length > 0);
      await Promise.all(refused.map(({ closed }) => closed));
      const other = open(head(path));
      other.socket.write('{"a": 12}');
      await eventually(() => expect(other.statuses()).toEqual([success]));
      expect(await status(head(path), '127.0.0.2')).toBe(503);
      await close();
    });

    it('refuse those of all addresses together, and no body that arrives with its head', async () => {
      const { open, status, close } = await startServer({ [name]: bodies(2, 2) });
      for (const from of ['127.0.0.2', '127.0.0.3']) open(head(path), from);
      await eventually(async () => expect(await status(head(path))).toBe(503));

      expect(await status(`${head(path)}{"a": 12}`)).toBe(success);
      expect(await status(`${head(path)}{"a": 12}`, '127.0.0.2')).toBe(success);
      await close();
    });

    it('count a body until it has arrived or its client has left', async () => {
      const { open, status, close } = await startServer({ [name]: bodies(1, 1) });
      for (let count = 0; count < 3; count += 1) {
        const { socket, closed, statuses } = open(head(path));
        await eventually(async () => expect(await status(head(path))).toBe(503));
        if (count === 1) {
          socket.write('{"a": 12}');
          await eventually(() => expect(statuses()).toEqual([success]));
        }
        socket.destroy();
        await closed;
      }
      const { socket, statuses } = open(head(path));
      socket.write('{"a": 12}');
      await eventually(() => expect(statuses()).toEqual([success]));
      await close();
    });
  });

  it('do not let other bodies take the room of messages, or messages that of other bodies', async () => {
    const { open, status, close } = await startServer({ bodies: bodies(1, 1), messageBodies: bodies(1, 1) });
    open(head('/post'));
    await eventually(async () => expect(await status(head('/post'))).toBe(503));
    const message = open(head(messagePath));
    message.socket.write('{"a": 12}');

    await eventually(() => expect(message.statuses()).toEqual([204]));
    await close();
  });

  it('let messages through beside 5,200 unfinished bodies from one address', async () => {
    const { open, server, status, close } = await startServer();
    const attackers = Array.from({ length: 5_200 }, () => open(head(messagePath, 200_000), '127.0.0.2'));
    // Above the limits, the server answers 503, or closes the connection.
    await eventually(async () => {
      const left = await new Promise<number>((resolve) =>
        server.getConnections((_, count) => resolve(count)),
      );
      expect(left).toBeLessThan(attackers.length);
    });

    const answers = await Promise.all(
      Array.from({ length: 60 }, () => status(`${head(messagePath)}{"a": 12}`)),
    );
    expect(answers).toEqual(Array<number>(60).fill(204));
    await close();
  }, 60_000);

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
      requestTimeout: 36_000,
      connectionsCheckingInterval: 100,
    });
    await close();
  });

  describe('on connections', () => {
    it('close those of an address above its limit, and none of another', async () => {
      const { open, status, close } = await startServer({
        connections: { total: 10, perAddress: 2 },
      });
      const held = [open(get('/held'), '127.0.0.2'), open(get('/held'), '127.0.0.2')];
      await eventually(async () => expect(await status(get('/fast'), '127.0.0.2')).toBeUndefined());

      expect(await status(get('/fast'))).toBe(200);
      held[0]?.socket.destroy();
      await eventually(async () => expect(await status(get('/fast'), '127.0.0.2')).toBe(200));
      await close();
    });

    it('close those of all addresses above their limit', async () => {
      const { open, held, status, close } = await startServer({ connections: { total: 2, perAddress: 2 } });
      for (const from of ['127.0.0.2', '127.0.0.3']) open(get('/held'), from);
      await eventually(() => expect(held).toHaveLength(2));

      expect(await status(get('/fast'))).toBeUndefined();
      await close();
    });

    it('do not apply to trusted proxies', async () => {
      const { open, held, close } = await startServer({ connections: { total: 10, perAddress: 1 } }, [
        '127.0.0.2',
      ]);
      for (let count = 0; count < 3; count += 1) open(get('/held'), '127.0.0.2');

      await eventually(() => expect(held).toHaveLength(3));
      await close();
    });
  });

  it('count the forwarded address of a trusted proxy', async () => {
    const via = (client: string): string =>
      head(messagePath, 9, `X-Forwarded-For: 198.51.100.1, ${client}\r\n`);
    const { open, status, close } = await startServer({ messageBodies: bodies(9, 1) }, ['127.0.0.2']);
    open(via('192.0.2.7'), '127.0.0.2');
    await eventually(async () => expect(await status(via('192.0.2.7'), '127.0.0.2')).toBe(503));
    const other = open(via('192.0.2.8'), '127.0.0.2');
    other.socket.write('{"a": 12}');
    await eventually(() => expect(other.statuses()).toEqual([204]));

    // A client that is not a trusted proxy cannot choose its address.
    open(via('192.0.2.9'), '127.0.0.3');
    await eventually(async () => expect(await status(via('192.0.2.10'), '127.0.0.3')).toBe(503));
    await close();
  });

  describe('a response before the body has arrived', () => {
    it.each([
      ['404', '/unknown', 404],
      ['401', '/private', 401],
    ])('(%s) keeps the connection, and the rest of the body is skipped', async (_what, path, status) => {
      const { open, close } = await startServer();
      const { socket, statuses } = open(head(path));
      await eventually(() => expect(statuses()).toEqual([status]));
      socket.write(`{"a": 12}${get('/fast')}`);

      await eventually(() => expect(statuses()).toEqual([status, 200]));
      await close();
    });

    it.each([
      ['413', '/post', 'Content-Length: 262145\r\n', 413],
      ['413 at the direct route', messagePath, 'Content-Length: 262145\r\n', 413],
      ['415', '/post', 'Content-Length: 9\r\nContent-Type: text/plain\r\n', 415],
      ['413 after 256 KiB in chunks', '/post', 'Transfer-Encoding: chunked\r\n', 413],
    ])('(%s) is sent at once', async (_what, path, headers, status) => {
      const { open, close } = await startServer();
      const type = headers.includes('Type') ? '' : 'Content-Type: application/json\r\n';
      const { socket, statuses } = open(`POST ${path} HTTP/1.1\r\nHost: x\r\n${type}${headers}\r\n`);
      if (headers.includes('chunked')) socket.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`.repeat(5));

      await eventually(() => expect(statuses()).toEqual([status]));
      await close();
    });

    it('reaches a client that sends the whole body before it reads', async () => {
      const { open, close } = await startServer();
      const body = 'x'.repeat(1024 ** 2);
      const { socket, statuses } = open('');
      socket.pause();
      socket.write(head('/post', body.length));
      await new Promise<void>((resolve) => socket.write(body, () => resolve()));
      socket.resume();

      await eventually(() => expect(statuses()).toEqual([413]));
      await close();
    });
  });
});
