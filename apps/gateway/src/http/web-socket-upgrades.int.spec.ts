import { once } from 'node:events';
import { request as ask, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { openRawClient } from '../../test/raw-client.js';
import { createHttpServer } from './http-server.js';
import { takeWebSocketUpgrades } from './web-socket-upgrades.js';

const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';

describe(takeWebSocketUpgrades.name, () => {
  let port: number;
  let taken: string[];
  let close: () => Promise<unknown>;

  beforeAll(async () => {
    const fastify = createHttpServer(false).getInstance();
    fastify.get('/there', () => Promise.resolve('there'));
    fastify.get('/held', () => new Promise(() => undefined));
    fastify.post('/echo', (request) => Promise.resolve(request.body));
    takeWebSocketUpgrades(fastify.server, '/ws/platform-events', (request, socket) => {
      taken.push(request.url ?? '');
      socket.end('HTTP/1.1 418 I am a test\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
    await fastify.listen({ port: 0, host: '127.0.0.1' });
    ({ port } = fastify.server.address() as AddressInfo); // Safe cast: address() of a TCP server is an AddressInfo.
    close = () => fastify.close();
  });

  beforeEach(() => {
    taken = [];
  });

  afterAll(() => close());

  /** Sends the pieces and, after the first response, `next`. Returns the server's output up to `end`. */
  async function exchange(pieces: string[], end: string, next = ''): Promise<string> {
    const socket: Socket = connect(port, '127.0.0.1').setEncoding('utf8').setNoDelay();
    let answer = '';
    const arrived = new Promise<void>((resolve, reject) => {
      socket.once('data', () => socket.write(next));
      socket.on('data', (chunk: string) => {
        answer += chunk;
        if (answer.includes(end)) resolve();
      });
      socket.on('close', () => reject(new Error(`closed after ${answer}`)));
    });
    for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
    await arrived;
    socket.destroy();
    return answer;
  }

  it.each(['/ws/platform-events', '/ws/platform-events/?a=b', '/ws/twitch-events'])(
    'passes on a WebSocket request for %s',
    async (path) => {
      const headers = { connection: 'upgrade', upgrade: 'WebSocket' };
      const [answer] = (await once(ask({ port, path, headers }).end(), 'response')) as [IncomingMessage]; // Safe cast: the event has this argument.

      expect(answer.statusCode).toBe(418);
      expect(taken).toEqual([path]);
    },
  );

  it('responds over HTTP/1.1 to a client that requests an upgrade to HTTP/2', async () => {
    const answer = await exchange([`GET /there HTTP/1.1\r\nHost: x\r\n${h2c}\r\n`], '\r\n\r\nthere');

    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(taken).toEqual([]);
  });

  it.each([
    ['at once', (head: string, body: string) => [head + body]],
    ['later', (head: string, body: string) => [head, body]],
    ['in pieces', (head: string, body: string) => [head + body.slice(0, 5), body.slice(5)]],
  ])('reads the body %s, and further requests on the connection', async (_, split) => {
    const body = '{"a": "größer"}';
    const head = `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${h2c}\r\n`;
    const next = `GET /there HTTP/1.1\r\nHost: x\r\n${h2c}\r\n`;
    const answer = await exchange(split(head, body), '\r\n\r\nthere', next);

    expect(answer).toContain(`\r\n\r\n${body}HTTP/1.1 200 OK`);
  });

  it('closes the connection when an upgrade arrives before the response to an earlier request', async () => {
    const upgrade =
      'GET /ws/platform-events HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const { closed } = openRawClient(port, { bytes: `GET /held HTTP/1.1\r\nHost: x\r\n\r\n${upgrade}` });

    await closed;
    expect(taken).toEqual([]);
  });

  it('survives clients that disconnect while an earlier request is pending', async () => {
    const request = `GET /there HTTP/1.1\r\nHost: x\r\n${h2c}\r\n`;
    for (let round = 0; round < 20; round += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.write(request + request, resolve));
      socket.resetAndDestroy();
    }

    expect(await exchange([request], '\r\n\r\nthere')).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  });

  it('also accepts a chunked body', async () => {
    const head = `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${h2c}\r\n`;
    const answer = await exchange([head, '3\r\n{"a\r\n', '3\r\n":1\r\n', '1\r\n}\r\n0\r\n\r\n'], '{"a":1}');

    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  });

  it.each([
    ['a WebSocket request for another path', 'GET', '/ws/other', 404],
    ['a WebSocket request with another method', 'POST', '/ws/platform-events', 404],
    ['something else on the WebSocket path', 'GET', '/ws/platform-events', 404],
  ])('leaves %s to the routes', async (what, method, path, status) => {
    const upgrade = what.startsWith('something') ? 'h2c' : 'websocket';
    const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`;

    expect(await exchange([head], '}')).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(taken).toEqual([]);
  });
});
