import { jest } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '@stream-events/testing';
import { WebSocket } from 'ws';
import { atMost } from '../../../test/at-most.js';
import { LiveEdges, type EdgeLimits } from '../../../test/live-edges.js';
import { WebSockets } from './web-sockets.service.js';

describe(`limits of ${WebSockets.name}`, () => {
  let edges: LiveEdges;
  let isRunning = false;

  beforeAll(async () => {
    edges = await LiveEdges.create();
  });

  afterEach(async () => {
    if (isRunning) await edges.stop();
    isRunning = false;
  });

  afterAll(() => edges.dispose());

  /** Starts the gateway's edges. Returns the token of a new user. */
  async function setup(limits: EdgeLimits = {}): Promise<string> {
    await edges.start(limits);
    isRunning = true;
    return (await edges.register()).token;
  }

  describe('sockets without a valid token', () => {
    const burst = (count: number): EdgeLimits => ({
      http: { anonymous: { perSecond: 0, burst: count, addresses: 10 } },
    });
    const wrong = { token: 'a'.repeat(40) };

    it('close with 4401, and stop further handshakes of their address with 429', async () => {
      const token = await setup(burst(2));
      for (let count = 0; count < 2; count += 1) {
        const { closed } = await edges.connect(wrong);
        expect(await closed).toEqual({ code: 4401, reason: 'Invalid token.' });
      }

      const [status, body, retryAfter] = await edges.refusal('/ws/platform-events');
      expect([status, retryAfter]).toEqual([429, '1']);
      expect(JSON.parse(body)).toMatchObject({ status: 429, title: 'Too Many Requests' });
      const authorization = `Token ${wrong.token}`;
      expect((await edges.refusal('/ws/platform-events', { headers: { authorization } }))[0]).toBe(429);
      expect((await edges.openStream(wrong.token)).status).toBe(429);
      await edges.connect(undefined, { headers: { authorization: `Token ${token}` } });
      await edges.untilLive(1);
      const stream = await edges.openStream(token);
      expect(stream.status).toBe(200);
      await stream.body?.cancel();
      await edges.untilLive(1);
      await edges.connect({ token }, { localAddress: '127.0.0.2' });
      await edges.untilLive(2);
    });

    it('count when their clients leave without a token, like requests without one', async () => {
      await setup(burst(2));
      const { socket, closed } = await edges.connect();
      socket.close();
      await closed;
      await eventually(async () => {
        const { status } = await edges.openStream(undefined, '/unknown', {
          headers: { connection: 'close' },
        });
        expect(status).toBe(429);
      });

      expect((await edges.refusal('/ws/platform-events'))[0]).toBe(429);
    });

    it('do not count when a valid token follows', async () => {
      const token = await setup(burst(1));
      for (let count = 1; count <= 3; count += 1) {
        await edges.connect({ token });
        await edges.untilLive(count);
      }
    });
  });

  describe('waiting and live sockets', () => {
    it('rejects sockets with 503 while too many have sent no token', async () => {
      const token = await setup({ sockets: { waiting: atMost(2) } });
      const [first, second] = [await edges.connect(), await edges.connect()];
      const [status, body] = await edges.refusal('/ws/platform-events');
      expect(status).toBe(503);
      expect(JSON.parse(body)).toMatchObject({ status: 503, title: 'Service Unavailable' });

      first.socket.send(JSON.stringify({ token }));
      await edges.untilLive(1);
      second.socket.terminate();
      await eventually(async () => {
        const { socket } = await edges.connect({ token });
        expect(socket.readyState).toBe(WebSocket.OPEN);
      });
    });

    it('accepts a client when long-silent sockets occupy all slots', async () => {
      const token = await setup({ sockets: { waiting: { ...atMost(2), patienceMs: 0 } } });
      const [first, second] = [await edges.connect(), await edges.connect()];
      await edges.connect({ token });
      await edges.untilLive(1);

      expect(await first.closed).toMatchObject({ code: 1006 });
      expect(second.socket.readyState).toBe(WebSocket.OPEN);
    });

    it('keeps an address with many silent sockets from using up the places of others', async () => {
      const token = await setup({ sockets: { waiting: { total: 3, perAddress: 2, patienceMs: 60_000 } } });
      const silent = { localAddress: '127.0.0.2' };
      const [first, second] = [
        await edges.connect(undefined, silent),
        await edges.connect(undefined, silent),
      ];
      expect((await edges.refusal('/ws/platform-events', silent))[0]).toBe(503);
      await edges.connect(undefined, { localAddress: '127.0.0.3' });

      await edges.connect({ token });
      await edges.untilLive(1);

      expect(await first.closed).toMatchObject({ code: 1006 });
      expect(second.socket.readyState).toBe(WebSocket.OPEN);
    });

    it('does not count a live connection among the connections of its address', async () => {
      const token = await setup({ http: { connections: atMost(2) } });
      for (let count = 1; count <= 3; count += 1) {
        await edges.connect({ token });
        await edges.untilLive(count);
      }
      const silent = [await edges.connect(), await edges.connect()];
      const refused = connect(Number(new URL(edges.url).port), '127.0.0.1').on('error', () => undefined);

      await once(refused.resume(), 'close');
      for (const { socket } of silent) expect(socket.readyState).toBe(WebSocket.OPEN);
    });

    it('closes with 4429 when a user has too many open connections', async () => {
      const token = await setup({ connections: { perUser: 2 } });
      const [first] = [await edges.connect({ token }), await edges.connect({ token })];
      await edges.untilLive(2);
      const third = await edges.connect({ token });
      expect(await third.closed).toMatchObject({
        code: 4429,
        reason: expect.stringContaining('live connections'),
      });
      await edges.connect({ token: (await edges.register()).token });
      await edges.untilLive(3);

      first.socket.close();
      await edges.untilLive(2);
      await edges.connect({ token });
      await edges.untilLive(3);
    });

    it('closes with 1013 beyond the limit of the process', async () => {
      const token = await setup({ connections: { connections: 1 } });
      await edges.connect({ token });
      await edges.untilLive(1);
      const second = await edges.connect({ token });

      expect(await second.closed).toMatchObject({ code: 1013, reason: expect.stringContaining('too many') });
    });

    it('closes new connections with 1013 while the database is down, and keeps open ones', async () => {
      const token = await setup();
      const open = await edges.connect({ token });
      await edges.untilLive(1);
      const query = jest
        .spyOn(edges.dataSource, 'query')
        .mockRejectedValue(Object.assign(new Error('terminating connection'), { code: '57P01' }));
      try {
        const other = await edges.connect({ token: 'b'.repeat(40) });
        expect(await other.closed).toMatchObject({ code: 1013 });
        await eventually(() => expect(edges.logLines.join()).toContain('cannot check the tokens'));
        expect(open.socket.readyState).toBe(WebSocket.OPEN);
      } finally {
        query.mockRestore();
      }
      expect(edges.logLines.join()).not.toContain('b'.repeat(40));
    });
  });
});
