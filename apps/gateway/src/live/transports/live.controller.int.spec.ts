import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@stream-events/testing';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { LiveEdges, type EdgeLimits } from '../../../test/live-edges.js';
import { Tokens } from '../../tokens/tokens.service.js';
import { LiveController } from './live.controller.js';

const path = '/api/v1/platform-events/stream';

describe(LiveController.name, () => {
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

  async function setup(limits: EdgeLimits = {}): Promise<string> {
    await edges.start(limits);
    isRunning = true;
    return (await edges.register()).token;
  }

  /** Opens a stream and collects its messages. `ended` resolves to true if the response was complete. */
  async function open(token: string, at = path, headers: Record<string, string> = {}) {
    const abort = new AbortController();
    const response = await edges.openStream(token, at, { headers, signal: abort.signal });
    const messages: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => messages.push(message) });
    const ended = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body!)
        parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
    })().then(
      () => true,
      () => false,
    );
    return { response, messages, ended, leave: () => abort.abort() };
  }

  const untilReceived = (messages: unknown[], count: number): Promise<void> =>
    eventually(() => expect(messages).toHaveLength(count), { intervalMs: 10 });

  describe('stream', () => {
    it.each([path, `${path}/`, '/api/v1/twitch-events/stream', '/api/v1/twitch-events/stream/'])(
      'sends each record with its position at %s',
      async (at) => {
        const token = await setup();
        const { response, messages } = await open(token, at);
        expect(response.status).toBe(200);
        await edges.untilLive(1);
        const record = { event_data: { text: 'größer 🎉' } };
        const [first, second] = [edges.feed.publish(record), edges.feed.publish()];

        await untilReceived(messages, 2);
        expect(messages).toEqual([
          { id: `0000abcd-1-${first.id.slice(-8)}`, event: undefined, data: first.record.toString() },
          { id: `0000abcd-2-${second.id.slice(-8)}`, event: undefined, data: second.record.toString() },
        ]);
      },
    );

    it('responds at once, with the headers of streams and of all responses', async () => {
      const token = await setup();
      const { response } = await open(token, path, { origin: 'https://overlay.example' });

      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        'access-control-allow-origin': '*',
        'access-control-expose-headers': 'X-Request-Id',
        'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
      });
    });

    it('responds to HEAD with the headers only, and opens no connection', async () => {
      const token = await setup();
      const response = await edges.openStream(token, path, { method: 'HEAD' });

      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      expect(response.headers.get('content-length')).toBeNull();
      expect(await response.text()).toBe('');
      expect(await edges.liveCount()).toBe(0);
    });

    it('resumes after Last-Event-ID, which takes precedence over `after`', async () => {
      const token = await setup();
      const events = [edges.feed.publish(), edges.feed.publish(), edges.feed.publish()];
      const positionOf = (index: number): string => `0000abcd-${index + 1}-${events[index]!.id.slice(-8)}`;
      const byHeader = await open(token, `${path}?after=nonsense`, { 'last-event-id': positionOf(1) });
      const byQuery = await open(token, `${path}?after=${positionOf(0)}`);
      const byNothing = await open(token, `${path}?after=nonsense`);

      await untilReceived(byHeader.messages, 1);
      await untilReceived(byQuery.messages, 2);
      await untilReceived(byNothing.messages, 1);
      expect(byHeader.messages[0]!.id).toBe(positionOf(2));
      expect(byQuery.messages.map(({ id }) => id)).toEqual([positionOf(1), positionOf(2)]);
      expect(byNothing.messages[0]).toMatchObject({ event: 'gap', data: '{"reason":"unknown_position"}' });
    });

    it('rejects invalid requests with problem documents', async () => {
      const token = await setup({ connections: { perUser: 1 } });
      const refused = async (key: string | undefined, query = ''): Promise<unknown> => {
        const response = await edges.openStream(key, path + query);
        expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
        return response.json();
      };
      expect(await refused(undefined)).toMatchObject({ status: 401 });
      expect(await refused('a'.repeat(40))).toMatchObject({ status: 401 });
      expect(await refused(undefined, `?token=${token}`)).toMatchObject({ status: 401 });
      expect(await refused(token, `?token=${token}`)).toMatchObject({
        status: 401,
        detail: expect.stringContaining('URL'),
      });
      expect(await refused(token, '?since=x&until=y&user_id=1')).toMatchObject({
        status: 400,
        errors: { since: [expect.any(String)], until: [expect.any(String)] },
      });
      await open(token);
      expect(await refused(token)).toMatchObject({ status: 429 });
      expect(edges.logLines.join()).not.toContain(token);
    });

    it('closes with 4401 when the token is rotated', async () => {
      await setup();
      const { id, token } = await edges.register();
      const { messages, ended } = await open(token);
      await edges.untilLive(1);
      await edges.app.get(Tokens).issueMain(id);

      await ended;
      expect(messages).toEqual([
        { id: undefined, event: 'closed', data: '{"code":4401,"reason":"no valid token"}' },
      ]);
      await edges.untilLive(0);
    });

    it('closes with 1012 during a shutdown, which does not wait for it', async () => {
      const token = await setup();
      const { messages, ended } = await open(token);
      await edges.untilLive(1);

      isRunning = false;
      await edges.stop();
      expect(await ended).toBe(true); // false: the server cut off the response after 5 s
      expect(messages).toMatchObject([{ event: 'closed', data: expect.stringContaining('1012') }]);
    });

    describe('on a connection with other requests', () => {
      const ask = (token: string, at: string): string =>
        `GET ${at} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${token}\r\n\r\n`;

      /** Sends raw bytes on a new connection and collects the response. */
      function send(bytes: string): { socket: Socket; text: () => string } {
        const socket = connect(Number(new URL(edges.url).port), '127.0.0.1');
        let received = '';
        socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
        socket.on('error', () => undefined).write(bytes);
        return { socket, text: () => received };
      }

      const statuses = (text: string): string[] =>
        [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status!);

      it('waits for those before it, and keeps those behind it waiting', async () => {
        const token = await setup();
        const { socket, text } = send(
          ask(token, '/unknown').repeat(2) + ask(token, path) + ask(token, '/unknown').repeat(2),
        );
        await edges.untilLive(1);
        const { record } = edges.feed.publish();

        await eventually(() => expect(text()).toContain(record.toString()));
        expect(statuses(text())).toEqual(['404', '404', '200']);
        socket.destroy();
        await edges.untilLive(0);
      });
    });

    it.each([
      ['goes', ''],
      ['half closes', 'half'],
      ['sends junk', 'junk'],
    ])('forgets a client that %s', async (_, kind) => {
      const token = await setup();
      const socket = connect(Number(new URL(edges.url).port), '127.0.0.1');
      socket.on('error', () => undefined).resume();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${token}\r\n\r\n`);
      await edges.untilLive(1);
      if (kind === 'half') socket.end();
      else if (kind === 'junk') socket.write('\0\r\n\r\n');
      else socket.destroy();
      const closed = once(socket, 'close');

      await edges.untilLive(0);
      await closed;
    });

    it('leaks nothing after hundreds of connections', async () => {
      const token = await setup();
      for (let round = 0; round < 10; round += 1) {
        const streams = await Promise.all(Array.from({ length: 30 }, () => open(token)));
        for (const { leave } of streams) leave();
        await Promise.all(streams.map(({ ended }) => ended));
      }

      await edges.untilLive(0);
      await eventually(async () => {
        const count = await new Promise<number>((resolve) => {
          edges.server.getConnections((_, open) => resolve(open));
        });
        expect(count).toBe(0);
      });
    }, 180_000);
  });

  describe('webSocket', () => {
    it.each(['/ws/platform-events', '/ws/twitch-events/'])(
      'responds at %s that a WebSocket is required, even without a token',
      async (at) => {
        await setup();
        const response = await fetch(edges.url + at);

        expect(response.status).toBe(426);
        expect(response.headers.get('upgrade')).toBe('websocket');
        expect(response.headers.get('connection')).toMatch(/upgrade/i);
        expect(await response.json()).toMatchObject({ status: 426, title: 'Upgrade Required' });
        expect((await fetch(edges.url + at, { method: 'POST' })).status).toBe(405);
      },
    );
  });
});
