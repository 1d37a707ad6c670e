import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { freePort } from '@stream-events/testing';
import { mkdtemp, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryLockedError } from './directory-lock.js';
import { startEmbeddedNats, type EmbeddedNats, type EmbeddedNatsOptions } from './embedded-nats.js';
import type { NatsUser } from './nats-server-config.js';

const USERS: NatsUser[] = [
  { name: 'admin', publish: ['>'], subscribe: ['>'] },
  { name: 'asker', publish: ['questions.>'], subscribe: ['_INBOX.>'] },
  { name: 'answerer', publish: [], subscribe: ['questions.>'], servesRequests: true },
  { name: 'listener', publish: [], subscribe: ['_INBOX.>'] },
];

let directory: string;
let servers: EmbeddedNats[] = [];
let connections: NatsConnection[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'embedded-nats-test-'));
});
afterEach(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  await Promise.all(servers.map((server) => server.stop()));
  connections = [];
  servers = [];
  await rm(directory, { recursive: true, force: true });
});

async function start(options: Partial<EmbeddedNatsOptions> = {}): Promise<EmbeddedNats> {
  const binary = process.env.TEST_NATS_BINARY;
  const server = await startEmbeddedNats({
    directory,
    ...(options.preferredPort === undefined && { port: await freePort() }),
    ...options,
    users: USERS,
    log: () => undefined,
    ...(binary === undefined ? {} : { binary }),
  });
  servers.push(server);
  return server;
}

async function connectAs(server: EmbeddedNats, user: string, password?: string): Promise<NatsConnection> {
  const url = new URL(server.urlFor(user));
  const connection = await connect({
    servers: server.url,
    user,
    pass: password ?? url.password,
    reconnect: false,
  });
  connections.push(connection);
  return connection;
}

describe(startEmbeddedNats.name, () => {
  it('starts on another port when another installation takes the preferred one at the same moment', async () => {
    const preferredPort = await freePort();
    const directories = ['a', 'b', 'c', 'd'].map((name) => join(directory, name));

    const started = await Promise.all(directories.map((each) => start({ directory: each, preferredPort })));

    const ports = started.map(({ port }) => port);
    expect(new Set(ports).size).toBe(4);
    expect(ports).toContain(preferredPort);
  });

  it('does not limit streams by the space that is free when the server starts', async () => {
    const { bavail, bsize } = await statfs(directory);
    const { streams } = await jetstreamManager(await connectAs(await start(), 'admin'));

    // The stream reserves space without writing data. nats-server's default limit is only 75% of the free space.
    await streams.add({ name: 'LARGE', subjects: ['large'], max_bytes: Math.floor(0.9 * bavail * bsize) });
  });

  it('rejects a connection without credentials', async () => {
    const server = await start();

    await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow(/authorization/i);
  });

  it('lets a user without publish permission reply to requests', async () => {
    const server = await start();
    const asker = await connectAs(server, 'asker');
    const answerer = await connectAs(server, 'answerer');
    answerer.subscribe('questions.>', {
      callback: (_error, message) => {
        message.respond('42');
      },
    });
    await answerer.flush();

    const answer = await asker.request('questions.meaning', '', { timeout: 20_000 });

    expect(answer.string()).toBe('42');
  });

  it('keeps streams after a kill and a second start', async () => {
    const first = await start();
    const before = await connectAs(first, 'admin');
    const manager = await jetstreamManager(before);
    await manager.streams.add({ name: 'KEPT', subjects: ['kept.>'] });
    await jetstream(before).publish('kept.one', 'x');
    await first.kill();

    const second = await start();

    const after = await jetstreamManager(await connectAs(second, 'admin'));
    expect((await after.streams.info('KEPT')).state.messages).toBe(1);
  });

  it('lets only its owner read the configuration, which holds the passwords', async () => {
    await start();

    expect((await stat(join(directory, 'nats/nats-server.conf'))).mode & 0o777).toBe(0o600);
  });

  it('listens on 127.0.0.1 only', async () => {
    const server = await start();

    await expect(connect({ servers: `nats://[::1]:${server.port}`, reconnect: false })).rejects.toThrow();
    // On Linux, all of 127.0.0.0/8 is local. A server on 0.0.0.0 would accept this connection.
    await expect(
      connect({ servers: `nats://127.0.0.2:${server.port}`, reconnect: false, timeout: 1_000 }),
    ).rejects.toThrow(/refused|timeout/i);
  });

  it('rejects a second start on the same data while it runs', async () => {
    await start();

    await expect(start()).rejects.toThrow(DirectoryLockedError);
  });

  it('fails with the end of the log of the server when the port is taken', async () => {
    const { port } = await start();
    const binary = process.env.TEST_NATS_BINARY;
    const other = await mkdtemp(join(tmpdir(), 'embedded-nats-test-'));

    const failure = startEmbeddedNats({
      directory: other,
      port,
      users: USERS,
      log: () => undefined,
      ...(binary === undefined ? {} : { binary }),
    });

    await expect(failure).rejects.toThrow(/address already in use/);
    await rm(other, { recursive: true });
  });
});
