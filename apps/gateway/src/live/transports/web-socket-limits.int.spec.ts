import { jest } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { WebSocket } from 'ws';
import { atMost } from '../../../test/at-most.js';
import { LiveEdges, type EdgeLimits, type TestClient } from '../../../test/live-edges.js';
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

  describe('many small frames', () => {
    /** A client that is live, after its first message. */
    async function openLive(): Promise<TestClient> {
      const token = await setup();
      const client = await edges.connect({ token });
      await edges.untilLive(1);
      return client;
    }

    it('close with 4400 above 60 messages, pings, and pongs after the first message', async () => {
      const { socket, closed, messages } = await openLive();
      let pongs = 0;
      socket.on('pong', () => (pongs += 1));
      for (let count = 0; count < 20; count += 1) {
        socket.send('later');
        socket.pong();
        socket.ping();
      }
      await eventually(() => expect(pongs).toBe(20));
      edges.feed.publish();
      await eventually(() => expect(messages).toHaveLength(1));
      socket.pong();

      expect(await closed).toEqual({
        code: 4400,
        reason: 'you sent more than 60 messages, pings, and pongs in a minute',
      });
      await edges.untilLive(0);
      expect(await edges.app.get(Registry).metrics()).toMatch(
        /live_connections_closed_total\{reason="invalid"\} 1/,
      );
    });

    it('are allowed again in the next minute', async () => {
      const { socket, closed } = await openLive();
      const clock = jest.spyOn(performance, 'now');
      const sent = async (): Promise<void> => {
        for (let count = 0; count < 59; count += 1) socket.pong();
        socket.ping();
        await once(socket, 'pong');
      };
      await sent();
      clock.mockReturnValue(performance.now() + 60_000);
      await sent();
      socket.pong();

      expect(await closed).toMatchObject({ code: 4400 });
      clock.mockRestore();
    });

    it('close a socket that has sent no token yet', async () => {
      await setup();
      const { socket, closed } = await edges.connect();
      for (let count = 0; count <= 60; count += 1) socket.ping();

      expect(await closed).toMatchObject({ code: 4400 });
    });

    it('let the event loop serve others after each frame', async () => {
      const { socket } = await openLive();
      let turns = 0;
      let isCounting = true;
      const count = (): void => {
        turns += 1;
        if (isCounting) setImmediate(count);
      };
      // The server runs in this process and counts the same turns. It gets all frames in one read.
      for (let frame = 0; frame < 30; frame += 1) socket.pong();
      socket.ping();
      setImmediate(count);
      await once(socket, 'pong');
      isCounting = false;

      expect(turns).toBeGreaterThanOrEqual(30);
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

    it('keeps an address with many silent sockets from using up the places of others', async () => {
      const token = await setup({ sockets: { waiting: { total: 3, perAddress: 2 } } });
      const silent = { localAddress: '127.0.0.2' };
      await edges.connect(undefined, silent);
      await edges.connect(undefined, silent);
      expect((await edges.refusal('/ws/platform-events', silent))[0]).toBe(503);

      await edges.connect({ token });
      await edges.untilLive(1);
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
