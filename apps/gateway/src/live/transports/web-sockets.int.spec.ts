import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '@stream-events/testing';
import { WebSocket } from 'ws';
import { LiveEdges, type EdgeLimits, type TestClient } from '../../../test/live-edges.js';
import { User } from '../../users/user.entity.js';
import { Tokens } from '../../tokens/tokens.service.js';
import { WebSockets } from './web-sockets.service.js';

describe(WebSockets.name, () => {
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

  const records = ({ messages }: TestClient): unknown[] =>
    messages.map((text) => JSON.parse(text) as unknown);

  const untilReceived = (client: TestClient, count: number): Promise<void> =>
    eventually(() => expect(client.messages).toHaveLength(count), { intervalMs: 10 });

  describe('token', () => {
    it('sends only records to a client whose first message is its token, without a reply', async () => {
      const token = await setup();
      const client = await edges.connect({ token });
      await edges.untilLive(1);
      expect(client.messages).toEqual([]);
      const { record } = edges.feed.publish({ event_data: { text: 'größer 🎉' } });

      await untilReceived(client, 1);
      expect(client.messages).toEqual([record.toString()]);
    });

    it.each(['Authorization', 'authorization'])(
      'reads the token from the header %s of the handshake',
      async (name) => {
        const token = await setup();
        const client = await edges.connect(undefined, { headers: { [name]: `token   ${token}` } });
        await edges.untilLive(1);
        client.socket.send('{"token": "ignored", "positions": true}');
        edges.feed.publish();

        await untilReceived(client, 1);
        expect(records(client)[0]).not.toHaveProperty('position');
      },
    );

    it.each([
      ['a wrong one', { token: 'a'.repeat(40) }],
      ['none', {}],
      ['one of the wrong type', { token: 7 }],
      ['null', 'null'],
      ['a list', '[]'],
      ['no JSON', '{"token": '],
      ['an empty message', ''],
      ['deep nesting', '['.repeat(16_000)],
    ])('closes with 4401 when the first message has %s', async (_, first) => {
      await setup();
      const { closed } = await edges.connect(first);

      expect((await closed).code).toBe(4401);
    });

    it('closes with 4401 when the first message is binary', async () => {
      const token = await setup();
      const { socket, closed } = await edges.connect();
      socket.send(Buffer.from(JSON.stringify({ token })));

      expect((await closed).code).toBe(4401);
    });

    it('closes with 4401 when no token arrives in time', async () => {
      await setup({ sockets: { tokenMs: 100 } });
      const { closed } = await edges.connect();

      expect(await closed).toMatchObject({ code: 4401, reason: expect.stringContaining('first message') });
    });

    it('closes with 4401 for a token in the URL, and does not log it', async () => {
      const token = await setup();
      const headers = { authorization: `Token ${token}` };
      for (const path of [`?token=${token}`, `?a=b&token=${token}`, '?token=']) {
        const { closed } = await edges.connect({ token }, { path: `/ws/platform-events${path}`, headers });
        expect(await closed).toMatchObject({ code: 4401, reason: expect.stringContaining('URL') });
      }
      expect(edges.logLines.join()).not.toContain(token);
    });

    it('closes with 4401 within about a second when the token is rotated or its user disabled', async () => {
      const token = await setup();
      const [rotated, disabled] = [await edges.register(), await edges.register()];
      const [first, second, other] = [
        await edges.connect({ token: rotated.token }),
        await edges.connect({ token: disabled.token }),
        await edges.connect({ token }),
      ];
      await edges.untilLive(3);

      const expectClosedSoon = async ({ closed }: TestClient): Promise<void> => {
        const changedAt = performance.now();
        expect(await closed).toMatchObject({ code: 4401 });
        expect(performance.now() - changedAt).toBeLessThan(8_000); // 0.8 s, plus a margin for a busy machine
      };
      await edges.app.get(Tokens).issueMain(rotated.id);
      await expectClosedSoon(first);
      await edges.dataSource.manager.update(User, { id: disabled.id }, { isDisabled: true });
      await expectClosedSoon(second);
      expect(other.socket.readyState).toBe(WebSocket.OPEN);
      expect(await edges.liveCount()).toBe(1);
    });
  });

  describe('request', () => {
    it('applies filters from the query and the message, which takes precedence', async () => {
      const token = await setup();
      const path = '/ws/platform-events?event_type=a&event_type=b&origin=test&unknown=1';
      const byQuery = await edges.connect({ token }, { path });
      const byMessage = await edges.connect({ token, event_type: ['c'], origin: '', other: 1 }, { path });
      await edges.untilLive(2);
      for (const [event_type, origin] of [
        ['a', 'platform'],
        ['a', 'test'],
        ['b', 'test'],
        ['c', 'platform'],
      ])
        edges.feed.publish({ event_type, origin });

      await untilReceived(byQuery, 2);
      await untilReceived(byMessage, 1);
      expect(records(byQuery)).toMatchObject([{ event_type: 'a', origin: 'test' }, { event_type: 'b' }]);
      expect(records(byMessage)).toMatchObject([{ event_type: 'c' }]);
    });

    it('closes with 4400 and as many errors as fit', async () => {
      const token = await setup();
      const few = await edges.connect({ token, user_id: 7, positions: 'yes' });
      const many = await edges.connect({
        token,
        since: 'ä',
        until: '🎉',
        origin: [],
        raid_to: 1,
        name: {},
        after: 1,
      });

      expect(await few.closed).toEqual({
        code: 4400,
        reason: 'user_id: must be text; positions: must be true or false',
      });
      const { code, reason } = await many.closed;
      expect(code).toBe(4400);
      expect(Buffer.byteLength(reason)).toBeGreaterThan(100);
      expect(reason).toContain('raid_to: must be text');
    });

    it.each(['/ws/platform-events', '/ws/platform-events/', '/ws/twitch-events', '/ws/twitch-events/?a=b'])(
      'connects at %s, from a page of any origin',
      async (path) => {
        const token = await setup();
        await edges.connect({ token }, { path, origin: 'https://overlay.example' });

        await edges.untilLive(1);
      },
    );
  });

  describe('messages of clients', () => {
    it('ignores all messages after the first', async () => {
      const token = await setup();
      const client = await edges.connect({ token });
      // Fewer than the limit on frames.
      for (let count = 0; count < 25; count += 1) {
        client.socket.send('{"token": "x"}');
        client.socket.send(Buffer.from([0xff, 0]));
      }
      client.socket.ping();
      await once(client.socket, 'pong');
      await edges.untilLive(1);
      edges.feed.publish();

      await untilReceived(client, 1);
      expect(client.socket.readyState).toBe(WebSocket.OPEN);
    });

    it.each([
      [1009, 'a message over 16 KiB', (socket: WebSocket) => socket.send('x'.repeat(20 * 1024))],
      [
        1007,
        'text that is not UTF-8',
        (socket: WebSocket) => socket.send(Buffer.from([0xc3, 0x28]), { binary: false }),
      ],
    ])('closes with %i for %s, before and after the token', async (code, _, send) => {
      const token = await setup();
      const before = await edges.connect();
      send(before.socket);
      expect((await before.closed).code).toBe(code);
      const after = await edges.connect({ token });
      await edges.untilLive(1);
      send(after.socket);
      expect((await after.closed).code).toBe(code);
      await edges.untilLive(0);
    });

    it('ends a connection that breaks the protocol', async () => {
      const token = await setup();
      const { socket, closed } = await edges.connect({ token });
      await edges.untilLive(1);
      // An unmasked frame with reserved bits.
      rawSocketOf(socket).write(Buffer.from([0xf1, 0x01, 0x00]));

      expect((await closed).code).toBe(1002);
      await edges.untilLive(0);
    });

    it('releases a client that closes its side without a close frame', async () => {
      const token = await setup();
      const { socket, closed } = await edges.connect({ token });
      await edges.untilLive(1);
      rawSocketOf(socket).end();

      await edges.untilLive(0);
      await closed;
    });

    it('rejects an invalid handshake with a problem document', async () => {
      await setup();
      const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '12' };
      const asked = request(`${edges.url}/ws/platform-events`, { headers }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]; // Safe cast: the event has this argument.

      expect(answer.statusCode).toBe(400);
      expect(JSON.parse(await text(answer))).toMatchObject({
        detail: expect.stringContaining('Sec-WebSocket-Key'),
      });
    });
  });

  describe('pings', () => {
    it('terminates a client that does not respond to pings, and keeps one that does', async () => {
      // Long enough for the responsive client: a busy machine can stop this process for 3 s.
      const token = await setup({ sockets: { pingMs: 5_000 } });
      const [silent, sound] = [
        await edges.connect({ token }, { autoPong: false }),
        await edges.connect({ token }),
      ];
      await edges.untilLive(2);

      expect((await silent.closed).code).toBe(1006);
      await edges.untilLive(1);
      expect(sound.socket.readyState).toBe(WebSocket.OPEN);
    });

    it('writes whole frames, even large ones, whatever ws writes between them', async () => {
      const token = await setup({ sockets: { pingMs: 5_000 } });
      const client = await edges.connect({ token });
      let pings = 0;
      client.socket.on('ping', () => (pings += 1));
      await edges.untilLive(1);
      const sent: string[] = [];
      const publish = (): void => {
        const size = [1, 60, 200, 400, 70_000][sent.length % 5]!;
        sent.push(edges.feed.publish({ event_data: { text: 'x'.repeat(size) } }).record.toString());
      };
      // Fewer pings than the limit on frames.
      for (let round = 0; round < 15; round += 1) {
        for (let ping = 0; ping < 3; ping += 1) {
          client.socket.ping();
          for (let count = 0; count < 5; count += 1) publish();
        }
        await once(client.socket, 'pong');
      }
      // Continue until the server has also pinged. Pauses keep the frames from filling the memory.
      await eventually(
        () => {
          publish();
          expect(pings).toBeGreaterThan(0);
        },
        { intervalMs: 5 },
      );

      await untilReceived(client, sent.length);
      expect(client.messages).toEqual(sent);
    });
  });

  describe('shutdown', () => {
    it('closes all connections with 1012, and does not wait for them', async () => {
      const token = await setup();
      let ends = 0;
      edges.server.on('connection', (socket: Socket) => socket.once('end', () => (ends += 1)));
      const clients = [await edges.connect({ token }), await edges.connect(), await edges.connect({ token })];
      await edges.untilLive(2);

      isRunning = false;
      const stopped = edges.stop();
      expect((await Promise.all(clients.map(({ closed }) => closed))).map(({ code }) => code)).toEqual([
        1012, 1012, 1012,
      ]);
      await stopped;
      expect(ends).toBe(3); // fewer: the server cut off connections after 5 s
    });

    it('rejects new connections with 503 while closing', async () => {
      await setup();
      edges.app.get(WebSockets).stop();

      expect((await edges.refusal('/ws/platform-events'))[0]).toBe(503);
    });
  });

  // On a busy machine, each connection takes 50 ms, so the test takes 50 s.
  it('leaks nothing after a thousand connections', async () => {
    const token = await setup();
    for (let round = 0; round < 20; round += 1) {
      const clients = await Promise.all(
        Array.from({ length: 50 }, (_, index) => edges.connect(index % 5 === 0 ? undefined : { token })),
      );
      for (const [index, { socket }] of clients.entries()) {
        if (index % 2 === 0) socket.terminate();
        else socket.close();
      }
      await Promise.all(clients.map(({ closed }) => closed));
    }

    await edges.untilLive(0);
    await eventually(async () => expect(await openConnections()).toBe(0));
    // Node counts a connection as closed before its `close` listeners run.
    await eventually(() =>
      expect(edges.app.get(WebSockets)).toMatchObject({ waiting: new Set(), places: { total: 0 } }),
    );
    expect(edges.server.listenerCount('upgrade')).toBe(1);
    expect(edges.feed).toMatchObject({ listeners: { length: 1 } });
  }, 180_000);

  function openConnections(): Promise<number> {
    return new Promise((resolve, reject) => {
      edges.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  }
});

/** Returns the raw socket of a client, to write bytes that ws would not write. */
function rawSocketOf(socket: WebSocket): Socket {
  return (socket as unknown as { _socket: Socket })._socket; // Safe cast: ws 8 has this private field.
}
