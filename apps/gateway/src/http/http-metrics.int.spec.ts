import { EventEmitter, once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { HttpMetrics } from './http-metrics.js';
import { createHttpServer } from './http-server.js';

async function startServer() {
  const metrics = new Registry();
  const fastify = createHttpServer(false).getInstance();
  new HttpMetrics(metrics).watch(fastify);
  fastify.get('/things/:thing_id', () => 'a thing');
  fastify.get('/fails', () => Promise.reject(new Error('no')));
  fastify.get('/stream', { config: { staysOpen: true } }, () => 'the end');
  const handlers = new EventEmitter();
  fastify.get('/slow', () => {
    handlers.emit('slow');
    return new Promise(() => undefined);
  });
  fastify.get('/cut', (_request, reply) => {
    const { raw } = reply.hijack();
    raw.write('begin');
    setImmediate(() => raw.destroy(new Error('the reader is too slow')));
  });
  fastify.get('/endless', (_request, reply) => {
    const body = new Readable({ read: () => undefined });
    body.push('begin');
    return reply.send(body);
  });
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = fastify.server.address() as AddressInfo; // Safe cast: address() of a TCP server is an AddressInfo.
  return {
    get: async (path: string, method = 'GET') => {
      await (await fetch(`http://127.0.0.1:${port}${path}`, { method })).text();
    },
    /** Sends a request, and disconnects when the handler waits or the response has begun. */
    leave: async (path: string) => {
      const socket = connect(port, '127.0.0.1');
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await Promise.race([once(handlers, 'slow'), once(socket, 'data')]);
      socket.destroy();
    },
    read: () => metrics.metrics(),
    close: () => fastify.close(),
  };
}

describe(HttpMetrics.name, () => {
  it('counts requests and measures their duration by the pattern of their path', async () => {
    const { get, read, close } = await startServer();

    await get('/things/1');
    await get('/things/2?secret=3');
    await get('/fails');

    await eventually(async () =>
      expect(await read()).toContain('http_requests_total{method="GET",route="/fails",status="500"} 1'),
    );
    const text = await read();
    expect(text).toContain('http_requests_total{method="GET",route="/things/:thing_id",status="200"} 2');
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/things/:thing_id"} 2');
    expect(text).toContain('http_request_duration_seconds_bucket{le="+Inf",method="GET",route="/fails"} 1');
    await close();
  });

  it('takes no label value from a client', async () => {
    const { get, read, close } = await startServer();

    await get('/marker-1');
    await get('/things/marker-2?marker-3', 'PROPFIND');

    await eventually(async () =>
      expect(await read()).toContain('http_requests_total{method="none",route="none",status="404"} 2'),
    );
    expect(await read()).not.toMatch(/marker|PROPFIND/);
    await close();
  });

  it('counts requests whose response is cut, by the client or the gateway', async () => {
    const { get, leave, read, close } = await startServer();

    await leave('/endless');
    await leave('/slow');
    await get('/cut').catch(() => undefined);

    await eventually(async () => {
      const text = await read();
      expect(text).toContain('http_requests_total{method="GET",route="/slow",status="499"} 1');
      expect(text).toContain('http_requests_total{method="GET",route="/endless",status="200"} 1');
      expect(text).toContain('http_requests_total{method="GET",route="/cut",status="200"} 1');
    });
    expect(await read()).not.toContain('http_request_duration_seconds_count');
    await close();
  });

  it('counts a response that stays open, and leaves its duration out', async () => {
    const { get, read, close } = await startServer();

    await get('/stream');

    await eventually(async () =>
      expect(await read()).toContain('http_requests_total{method="GET",route="/stream",status="200"} 1'),
    );
    expect(await read()).not.toContain('http_request_duration_seconds_count{method="GET",route="/stream"}');
    await close();
  });
});
