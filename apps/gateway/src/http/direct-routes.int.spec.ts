import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { ServiceError } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { openRawClient } from '../../test/raw-client.js';
import { addDirectRoute, type DirectResponse } from './direct-routes.js';
import { createHttpServer } from './http-server.js';

const path = '/api/v1/platform-events/webhook';
const json = { 'content-type': 'application/json' };

/** The head of a message whose body has this length. */
function messageHead(length: number): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
}

/** Starts a server with a direct route. Fastify has the same route and responds with 202, so that a test sees who served the request. */
async function startServer() {
  const fastify = createHttpServer(false).getInstance();
  fastify.post(path, { config: { receivesMessages: true } }, (request, reply) =>
    reply.code(202).send(request.body as Buffer),
  );
  fastify.get(path, () => 'read');
  const bodies: string[] = [];
  const failures: { error: ServiceError; id: string; method: string; route: string }[] = [];
  const statuses: number[] = [];
  let answer = (): Promise<DirectResponse> => Promise.resolve({ status: 204 });
  addDirectRoute(fastify, path, {
    handle: (_request, body) => {
      bodies.push(body.toString());
      return answer();
    },
    pattern: path,
    onClosed: (status) => statuses.push(status),
    onFailed: (error, request) => failures.push({ error, ...request }),
  });
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = fastify.server.address() as AddressInfo; // Safe cast: address() of a TCP server is an AddressInfo.
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    bodies,
    failures,
    statuses,
    post: (body: string, headers: Record<string, string> = json, to = path) =>
      fetch(url + to, { method: 'POST', body, headers }),
    read: () => fetch(url + path),
    answerWith: (make: () => Promise<DirectResponse>) => (answer = make),
    close: () => fastify.close(),
  };
}

describe(addDirectRoute.name, () => {
  it.each([path, `${path}/`, '/api/v1/twitch-events/webhook', '/api/v1/twitch-events/webhook/'])(
    'serves POST requests with JSON to %s',
    async (to) => {
      const { post, bodies, close } = await startServer();

      const response = await post('{"é":1}', json, to);

      expect([response.status, await response.text()]).toEqual([204, '']);
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(bodies).toEqual(['{"é":1}']);
      await close();
    },
  );

  it('collects a body that arrives in pieces', async () => {
    const { post, bodies, close } = await startServer();
    const body = JSON.stringify({ large: 'x'.repeat(250_000) });

    expect((await post(body)).status).toBe(204);

    expect(bodies).toEqual([body]);
    await close();
  });

  it('responds to a failure with a problem document and reports it with the request id', async () => {
    const { post, failures, answerWith, close } = await startServer();
    answerWith(() => Promise.reject(new ServiceError('unavailable', 'later', { retryAfterSeconds: 7 })));

    const response = await post('{}');

    expect(response.status).toBe(503);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await response.json()).toMatchObject({ status: 503, detail: 'later' });
    expect(failures).toMatchObject([
      {
        error: { code: 'unavailable' },
        id: response.headers.get('x-request-id'),
        method: 'POST',
        route: path,
      },
    ]);
    await close();
  });

  it('counts every response by its status', async () => {
    const { post, statuses, answerWith, close } = await startServer();

    await post('{}');
    answerWith(() => Promise.reject(new ServiceError('forbidden', 'no')));
    await post('{}');

    await eventually(() => expect(statuses).toEqual([204, 403]));
    await close();
  });

  it('does not reveal an unexpected error', async () => {
    const { post, failures, answerWith, close } = await startServer();
    answerWith(() => Promise.reject(new TypeError('the password is hunter2')));

    const response = await post('{}');

    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('hunter2');
    expect(failures).toMatchObject([{ error: { code: 'internal', cause: { name: 'TypeError' } } }]);
    await close();
  });

  it.each([
    ['no body', '', json, 202],
    ['another content type', '{}', { 'content-type': 'text/plain' }, 415],
    ['a parameter of the content type', '{}', { 'content-type': 'application/json; charset=utf-8' }, 202],
    ['an origin', '{}', { ...json, origin: 'https://example.org' }, 202],
    ['a body over the limit', 'x'.repeat(256 * 1024 + 1), json, 413],
  ])('leaves a request with %s to Fastify', async (_what, body, headers, status) => {
    const { post, bodies, close } = await startServer();

    expect((await post(body, headers)).status).toBe(status);

    expect(bodies).toEqual([]);
    await close();
  });

  it.each([
    ['another path', (post: Post) => post('{}', json, `${path}?a=1`), 202],
    ['an unknown path', (post: Post) => post('{}', json, `${path}/more`), 404],
  ])('leaves a request to %s to Fastify', async (_what, send, status) => {
    const { post, bodies, read, close } = await startServer();

    expect((await send(post)).status).toBe(status);
    expect(await (await read()).text()).toBe('read');

    expect(bodies).toEqual([]);
    await close();
  });

  it('leaves a body without a length to Fastify', async () => {
    const { port, bodies, close } = await startServer();
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    );

    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 202 /);

    expect(bodies).toEqual([]);
    socket.destroy();
    await close();
  });

  it('does not call the handler for a body that is cut', async () => {
    const { port, post, bodies, statuses, close } = await startServer();
    const { socket } = openRawClient(port, { bytes: `${messageHead(9)}{"a` });
    expect((await post('{}')).status).toBe(204);

    socket.destroy();

    await eventually(() => expect(statuses).toEqual([204, 499]));
    expect(bodies).toEqual(['{}']);
    await close();
  });

  it('finishes requests in progress when the server closes', async () => {
    const { post, bodies, answerWith, close } = await startServer();
    let finish: (() => void) | undefined;
    answerWith(() => new Promise((resolve) => (finish = () => resolve({ status: 204 }))));
    const waiting = post('{}');
    await eventually(() => expect(bodies).toHaveLength(1));

    const closed = close();
    finish?.();

    expect((await waiting).status).toBe(204);
    await closed;
  });
});

type Post = Awaited<ReturnType<typeof startServer>>['post'];
