import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { WebSocketServer, type WebSocket } from 'ws';
import { SocketRecorder } from '../../test/socket-recorder.js';
import { EventSocket } from './event-socket.js';

const frame = (message_type: string, payload: object): string =>
  JSON.stringify({ metadata: { message_id: message_type, message_type, message_timestamp: '' }, payload });
const welcome = (id: string, keepalive_timeout_seconds = 600): string =>
  frame('session_welcome', { session: { id, keepalive_timeout_seconds } });
const cheer = (bits: number): string =>
  frame('notification', { subscription: { type: 'channel.cheer' }, event: { bits } });

/** Covers faults that neither a correct platform nor the simulator has. This test therefore runs its own server. */
describe(`${EventSocket.name} with a misbehaving platform`, () => {
  let server: WebSocketServer;
  let recorder: SocketRecorder;
  let socket: EventSocket;
  let url: string;
  const clients: WebSocket[] = [];

  beforeEach(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (client) => clients.push(client));
    await once(server, 'listening');
    url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`; // Safe cast: the server listens on TCP.
    recorder = new SocketRecorder();
  });
  afterEach(async () => {
    await socket.stop();
    for (const client of clients.splice(0)) client.terminate();
    server.close();
  });

  const start = (secondMs = 1_000): void => {
    socket = new EventSocket(url, recorder, {
      logger: createLogger('test', 'silent'),
      name: 'test',
      secondMs,
    });
    socket.start();
  };

  /** Waits until the client has made this many connections, then returns all of them. */
  const connections = (count: number): Promise<WebSocket[]> =>
    eventually(() => {
      expect(clients.length).toBeGreaterThanOrEqual(count);
      return clients;
    });

  it('ignores malformed frames', async () => {
    start();
    const [client] = await connections(1);
    for (const text of [welcome('one'), 'garbage', '{"metadata":{}}', welcome(''), cheer(1)])
      client!.send(text);

    await eventually(() => expect(recorder.bits).toEqual([1]));

    expect(recorder.sessions).toHaveLength(1);
    expect(recorder.losses).toEqual([]);
  });

  it('connects again when no welcome comes', async () => {
    // On a busy machine, the client may give up more than one connection.
    server.on('connection', (client) => {
      if (clients.length > 1) client.send(welcome('two'));
    });
    start(100); // the limit of 20 s takes 2 s

    await eventually(() => expect(socket.session).toBe('two'));

    expect(clients.length).toBeGreaterThanOrEqual(2);
    expect(recorder.losses).toEqual([]);
  });

  it('keeps a quiet connection while keep-alive frames arrive', async () => {
    start();
    const [client] = await connections(1);
    client!.send(welcome('one', 2)); // the client waits 5 s for a frame
    const keepAlive = setInterval(() => client!.send(frame('session_keepalive', {})), 250);
    client!.once('close', () => clearInterval(keepAlive));
    await eventually(() => expect(socket.session).toBe('one'));
    const keptAlive = socket.lastFrameAt!;
    await eventually(() => expect(socket.lastFrameAt! - keptAlive).toBeGreaterThan(5_000));

    expect(recorder.sessions).toHaveLength(1);
    expect(recorder.losses).toEqual([]);
  });

  it('ends a connection whose close gets no reply, also while frames arrive', async () => {
    start(100); // the limit of 2 s takes 200 ms
    const [client] = await connections(1);
    client!.send(welcome('one'));
    await eventually(() => expect(socket.session).toBe('one'));
    client!.pause(); // so that the server does not read the close frame
    const frames = setInterval(() => client!.send(frame('session_keepalive', {})), 50);
    const closed = once(client!, 'close').finally(() => clearInterval(frames));

    await socket.stop();

    await closed;
  });

  it('ignores a second welcome', async () => {
    start();
    const [client] = await connections(1);
    for (const text of [welcome('one'), welcome('other'), cheer(1)]) client!.send(text);

    await eventually(() => expect(recorder.bits).toEqual([1]));

    expect(recorder.sessions).toMatchObject([{ id: 'one' }]);
  });

  it('keeps the session when the URL of a reconnect is malformed', async () => {
    start();
    const [client] = await connections(1);
    client!.send(welcome('one'));
    client!.send(frame('session_reconnect', { session: { reconnect_url: 'http://[' } }));
    client!.send(cheer(1));

    await eventually(() => expect(recorder.bits).toEqual([1]));

    expect(socket.session).toBe('one');
  });

  it('takes the new id of a session that the platform renames in a reconnect', async () => {
    start();
    const [old] = await connections(1);
    old!.send(welcome('one'));
    old!.send(frame('session_reconnect', { session: { reconnect_url: `${url}?challenge=1` } }));
    const [, second] = await connections(2);
    old!.send(cheer(1));
    second!.send(welcome('renamed'));
    // This cheer may arrive after the client has begun to close the old socket.
    old!.send(cheer(2));
    second!.send(cheer(3));
    await eventually(() => expect(new Set(recorder.bits)).toEqual(new Set([1, 2, 3])));

    expect(socket.session).toBe('renamed');

    expect(recorder.sessions).toMatchObject([{ id: 'one' }]);
    expect(recorder.losses).toEqual([]);
  });

  it('reports a loss when the old socket fails before the welcome of the new one', async () => {
    start();
    const [old] = await connections(1);
    old!.send(welcome('one'));
    old!.send(frame('session_reconnect', { session: { reconnect_url: `${url}?challenge=1` } }));
    const [, second] = await connections(2);
    old!.terminate();
    await eventually(() => expect(recorder.losses).toMatchObject([{ code: null }]));
    second!.send(welcome('one'));

    await eventually(() => expect(recorder.sessions).toMatchObject([{ id: 'one' }, { id: 'one' }]));

    expect(clients).toHaveLength(2);
  });

  it('does not try a URL again that the platform has refused', async () => {
    start();
    const [old] = await connections(1);
    old!.send(welcome('one'));
    old!.send(frame('session_reconnect', { session: { reconnect_url: `${url}?challenge=1` } }));
    const [, second] = await connections(2);
    second!.close(4007, 'invalid reconnect attempt');
    await once(second!, 'close');
    old!.close(4004);

    await connections(3);

    expect(recorder.losses).toMatchObject([{ code: 4004 }]);
  });
});
