import type { AddressInfo, Socket } from 'node:net';
import { eventually } from '@stream-events/testing';
import { openRawClient, type RawClient } from '../../test/raw-client.js';
import type { TrustProxy } from '../gateway.config.js';
import { addDirectRoute } from './direct-routes.js';
import type { HttpLimits } from './http-limits.js';
import { createHttpServer } from './http-server.js';
import { gateOf, RequestGate } from './request-gate.js';

const messagePath = '/api/v1/platform-events/webhook';
const typedPath = '/api/v1/platform-events/:event_type/webhook';

const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const post = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;

/** Starts a server on which requests to `/held` and to the direct route wait for `release()`. The token `good` is valid. */
async function startServer(limits: Partial<HttpLimits> = {}, trustProxy: TrustProxy = false) {
  const fastify = createHttpServer(trustProxy, limits).getInstance();
  const held: (() => void)[] = [];
  const hold = (): Promise<void> => new Promise((resolve) => held.push(resolve));
  fastify.get('/held', async () => {
    await hold();
    return 'done';
  });
  fastify.get('/fast', () => Promise.resolve('done'));
  fastify.get('/last', (_request, reply) => reply.header('Connection', 'close').send('done'));
  fastify.post(typedPath, { config: { receivesMessages: true } }, () => Promise.resolve('stored'));
  fastify.post(messagePath, { config: { receivesMessages: true } }, () => Promise.resolve('stored'));
  addDirectRoute(fastify, messagePath, {
    handle: async () => {
      await hold();
      return { status: 204 };
    },
    pattern: messagePath,
    onClosed: () => undefined,
    onFailed: () => undefined,
  });
  let recognized: () => void = () => undefined;
  const untilRecognized = new Promise<void>((resolve) => (recognized = resolve));
  gateOf(fastify.server).recognize = (authorization) => {
    if (authorization === 'Token later') return untilRecognized.then(() => false);
    return authorization === undefined ? undefined : Promise.resolve(authorization === 'Token good');
  };
  const sockets: Socket[] = [];
  fastify.server.on('connection', (socket: Socket) => sockets.push(socket));
  let parsed = 0;
  fastify.server.on('request', () => (parsed += 1));
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = fastify.server.address() as AddressInfo; // Safe cast: address() of a TCP server is an AddressInfo.
  const clients: RawClient[] = [];
  const open = (bytes: string, from = '127.0.0.1'): RawClient => {
    const client = openRawClient(port, { from, bytes });
    clients.push(client);
    return client;
  };
  return {
    held,
    sockets,
    parsed: () => parsed,
    recognized,
    open,
    release: () => {
      for (const end of held.splice(0)) end();
    },
    /** Sends a request and returns the status of the response. */
    status: async (bytes: string, from?: string): Promise<number | undefined> => {
      const client = open(bytes, from);
      await eventually(() => expect(client.statuses()).toHaveLength(1));
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

describe(RequestGate.name, () => {
  describe('with pipelined requests', () => {
    const pipelined = { total: 5, perAddress: 3 };

    it.each([
      ['Fastify', get('/held'), 200],
      ['a direct route', post(messagePath), 204],
    ])('serves them one after another (%s)', async (_, request, status) => {
      const { open, held, release, close } = await startServer();
      const { statuses } = open(request.repeat(3));
      for (let count = 1; count <= 3; count += 1) {
        await eventually(() => expect(held).toHaveLength(1));
        release();
        await eventually(() => expect(statuses()).toHaveLength(count));
      }

      expect(statuses()).toEqual([status, status, status]);
      await close();
    });

    it('refuses the first one above the limit, drops the others, and closes the connection', async () => {
      const { open, held, release, close } = await startServer({ pipelined });
      const { statuses, text, closed } = open(get('/held') + get('/fast').repeat(1_200));
      await eventually(() => expect(held).toHaveLength(1));

      release();
      await closed;

      expect(statuses()).toEqual([200, 200, 200, 200, 503]);
      expect(text().match(/^connection: close\r$/gim)).toHaveLength(1);
      expect(text()).toMatch(/^retry-after: 1\r$/im);
      expect(text()).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/im);
      await close();
    });

    it('also counts requests that Fastify rejects before their hooks', async () => {
      const { open, close } = await startServer({ pipelined });
      const { statuses, closed } = open(get('/%zz').repeat(1_200));

      await closed;

      expect(statuses()).toEqual([400, 400, 400, 400, 503]);
      await close();
    });

    it('counts those of all connections of a client, and none of another', async () => {
      const { open, held, release, status, close } = await startServer({ pipelined });
      const full = open(get('/held') + get('/fast').repeat(3));
      await eventually(() => expect(held).toHaveLength(1));
      const second = open(get('/held') + get('/fast'));
      const other = open(get('/held') + get('/fast'), '127.0.0.2');
      await eventually(() => expect(held).toHaveLength(3));

      expect(await status(get('/fast'))).toBe(200);
      release();
      await eventually(() => expect(full.statuses()).toEqual([200, 200, 200, 200]));
      await eventually(() => expect(second.statuses()).toEqual([200, 503]));
      await eventually(() => expect(other.statuses()).toEqual([200, 200]));
      await close();
    });

    it('stops counting them when their client leaves, and serves none of them', async () => {
      const { open, held, release, close } = await startServer({ pipelined });
      for (let round = 1; round <= 3; round += 1) {
        const { socket, closed } = open(get('/held').repeat(4));
        await eventually(() => expect(held).toHaveLength(round));
        socket.destroy();
        await closed;
      }
      release();
      const { statuses } = open(get('/fast').repeat(4));

      await eventually(() => expect(statuses()).toEqual([200, 200, 200, 200]));
      expect(held).toEqual([]);
      await close();
    });

    it('serves none of them after a response that ends the connection', async () => {
      const { open, parsed, held, close } = await startServer();
      const { statuses, closed } = open(get('/last') + get('/held').repeat(3));

      await closed;

      expect([statuses(), parsed(), held.length]).toEqual([[200], 4, 0]);
      await close();
    });

    it('ends the connection of a client that keeps sending', async () => {
      const { open, held, parsed, close } = await startServer({ pipelined });
      const { socket, closed } = open(get('/held').repeat(1_200));
      await eventually(() => expect([held.length, parsed()]).toEqual([1, 1_200]));
      socket.write(get('/held').repeat(50_000));

      await closed;
      // At most the requests of one read of 64 KiB.
      expect(parsed()).toBeLessThan(1_200 + (64 * 1024) / get('/held').length);
      await close();
    });
  });

  describe('without a valid token', () => {
    const anonymous = { perSecond: 0, burst: 3, addresses: 2 };
    const from = '127.0.0.2';

    it('refuses requests of an address above its limit, and none of another', async () => {
      const { open, status, close } = await startServer({ anonymous });
      for (const request of [get('/fast'), get('/unknown'), 'OPTIONS /fast HTTP/1.1\r\nHost: x\r\n\r\n'])
        expect(await status(request, from)).not.toBe(429);

      for (const request of [get('/fast'), get('/unknown'), get('/%zz'), post('/fast')])
        expect(await status(request, from)).toBe(429);
      expect(await status(get('/fast'))).toBe(200);
      const { closed, text } = open(get('/fast').repeat(5), from);
      await closed;
      expect(text().match(/^HTTP/gm)).toHaveLength(1);
      expect(text()).toMatch(/^retry-after: 1\r$/im);
      await close();
    });

    it('counts a wrong token as none, and never refuses a valid one', async () => {
      const { status, close } = await startServer({ anonymous });
      const [wrong, good] = ['Authorization: Token wrong\r\n', 'Authorization: Token good\r\n'];
      for (let count = 0; count < 3; count += 1) expect(await status(get('/fast', wrong), from)).toBe(200);

      expect(await status(get('/fast', wrong), from)).toBe(429);
      expect(await status(get('/fast'), from)).toBe(429);
      for (let count = 0; count < 4; count += 1) expect(await status(get('/fast', good), from)).toBe(200);
      await close();
    });

    it('counts requests whose token is still being checked', async () => {
      const { open, held, release, recognized, close } = await startServer({ anonymous });
      const wrong = get('/held', 'Authorization: Token later\r\n');
      const clients = Array.from({ length: 5 }, () => open(wrong, from));
      await eventually(() => expect(held).toHaveLength(3));
      recognized();
      release();

      await eventually(() =>
        expect(clients.flatMap(({ statuses }) => statuses()).sort()).toEqual([200, 200, 200, 429, 429]),
      );
      await close();
    });

    it('accepts every platform message', async () => {
      const { open, held, release, status, close } = await startServer({ anonymous });
      const path = typedPath.replace(':event_type', 'channel-cheer');
      for (let count = 0; count < 5; count += 1) {
        expect(await status(post(path), from)).toBe(200);
        expect(await status(post(path.replace('platform', 'twitch')), from)).toBe(200);
      }
      const direct = Array.from({ length: 5 }, () => open(post(messagePath), from));
      await eventually(() => expect(held).toHaveLength(5));
      release();
      await eventually(() =>
        expect(direct.flatMap(({ statuses }) => statuses())).toEqual([204, 204, 204, 204, 204]),
      );
      expect(await status(get('/fast'), from)).toBe(200);
      await close();
    });

    it('counts the clients of a trusted proxy, and not the proxy', async () => {
      const { status, close } = await startServer({ anonymous }, [from]);
      const via = (client: string): string => get('/fast', `X-Forwarded-For: ${client}\r\n`);
      for (let count = 0; count < 3; count += 1) expect(await status(via('192.0.2.7'), from)).toBe(200);

      expect(await status(via('192.0.2.7'), from)).toBe(429);
      expect(await status(via('192.0.2.8'), from)).toBe(200);
      for (let count = 0; count < 5; count += 1) expect(await status(get('/fast'), from)).toBe(200);
      await close();
    });

    it('remembers a limited number of addresses', async () => {
      const { status, close } = await startServer({ anonymous });
      for (let count = 0; count < 3; count += 1) expect(await status(get('/fast'), from)).toBe(200);
      expect(await status(get('/fast'), from)).toBe(429);
      for (const other of ['127.0.0.3', '127.0.0.4']) expect(await status(get('/fast'), other)).toBe(200);

      expect(await status(get('/fast'), from)).toBe(200);
      await close();
    });
  });
});
