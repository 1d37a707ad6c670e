import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { eventually } from '@stream-events/testing';
import { openRawClient } from '../../test/raw-client.js';
import { largeResponseBytes } from './http-limits.js';
import { createHttpServer } from './http-server.js';
import { limitConnections, limitRequests } from './requests-in-progress.js';

const large = 'x'.repeat(largeResponseBytes);

/** Starts a server that lets each address hold one unread large response. Requests to `/held` wait for `release()`. */
async function startServer() {
  const responses = { total: 1_000_000, perAddress: largeResponseBytes, patienceMs: Infinity };
  const fastify = createHttpServer(false, { responses }).getInstance();
  const held: (() => void)[] = [];
  const closed: string[] = [];
  fastify.get('/held/:name', async ({ params }, reply) => {
    const { name } = params as { name: string }; // Safe cast: the path has this parameter.
    reply.raw.once('close', () => closed.push(name));
    await new Promise<void>((resolve) => held.push(resolve));
    return large;
  });
  const files: PassThrough[] = [];
  fastify.get('/file', async (_request, reply) => {
    reply.raw.once('close', () => closed.push('file'));
    await new Promise<void>((resolve) => held.push(resolve));
    const file = new PassThrough();
    file.write(large);
    files.push(file);
    return reply.send(file);
  });
  fastify.get('/large', () => Promise.resolve(large));
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = fastify.server.address() as AddressInfo; // Safe cast: address() of a TCP server is an AddressInfo.
  return {
    held,
    closed,
    files,
    open: (...paths: string[]) =>
      openRawClient(port, {
        bytes: paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''),
      }),
    release: () => {
      for (const answer of held.splice(0)) answer();
    },
    status: async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      await response.text();
      return response.status;
    },
    close: () => fastify.close(),
  };
}

describe(limitConnections.name, () => {
  it('closes each pending response once when the client leaves, even if it waits behind another one', async () => {
    const { held, closed, open, close } = await startServer();
    const { socket } = open('/held/1', '/held/2', '/held/3');
    await eventually(() => expect(held).toHaveLength(3));

    socket.destroy();

    await eventually(() => expect([...closed].sort()).toEqual(['1', '2', '3']));
    await close();
  });
});

describe('a stream of a response', () => {
  it('ends when the client left before the stream began', async () => {
    const { held, closed, files, open, release, close } = await startServer();
    const { socket } = open('/file', '/file');
    await eventually(() => expect(held).toHaveLength(2));
    socket.destroy();
    await eventually(() => expect(closed).toHaveLength(2));

    release();

    await eventually(() => expect(files.map(({ destroyed }) => destroyed)).toEqual([true, true]));
    await close();
  });
});

describe(limitRequests.name, () => {
  it('counts no large response to a client that has left', async () => {
    const { held, closed, open, release, status, close } = await startServer();
    const { socket } = open('/held/1', '/held/2');
    await eventually(() => expect(held).toHaveLength(2));
    socket.destroy();
    await eventually(() => expect(closed).toHaveLength(2));

    release();

    expect(await status('/large')).toBe(200);
    await close();
  });
});
