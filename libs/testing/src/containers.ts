import { once } from 'node:events';
import { connect } from 'node:net';
import {
  findFreePort,
  pinnedNatsVersion,
  renderNatsConfig,
  type NatsConfigOptions,
} from '@stream-events/embedded';
import { eventually } from './eventually.js';

/*
 * Servers in containers, for machines with a Docker engine. The Testcontainers packages take half a second to load, so each function
 * imports them itself. Testcontainers' reaper (Ryuk) removes the containers of a killed run.
 *
 * Each function waits for a line in the server's log. It cannot wait for a health check, which an engine without systemd never runs.
 */

const POSTGRES_IMAGE = 'postgres:18.4-alpine';
const NATS_IMAGE = `nats:${pinnedNatsVersion}-alpine`;
const NATS_PORT = 4222;
const GREETING_TIMEOUT_MS = 1_000;
const NATS_CONFIG_PATH = '/etc/nats/stream-events.conf';

export interface PostgresContainer {
  url: string;
  stop(): Promise<void>;
}

export async function startPostgresContainer(
  settings: Readonly<Record<string, string>>,
): Promise<PostgresContainer> {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const { Wait } = await import('testcontainers');
  const container = await new PostgreSqlContainer(POSTGRES_IMAGE)
    .withDatabase('stream_events')
    // Sort text like the embedded server. Without the encoding, initdb would derive SQL_ASCII from the locale C, and the builtin locale
    // C.UTF-8 rejects SQL_ASCII.
    .withEnvironment({
      POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8',
    })
    // The line appears twice: once from the image's temporary setup server, once from the real server.
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
    .withCommand([
      'postgres',
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ])
    .start();
  return {
    url: container.getConnectionUri(),
    stop: async () => {
      await container.stop();
    },
  };
}

export interface NatsServer {
  host: string;
  port: number;
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Restarts a running or killed server with the same port and data. */
  restart(): Promise<void>;
  reload(users: NatsConfigOptions['users']): Promise<void>;
}

/**
 * Does not use `@testcontainers/nats`, which always passes `--user` and `--pass`. Users and permissions must come from the same
 * configuration file as for the embedded server.
 */
export async function startNatsContainer(users: NatsConfigOptions['users']): Promise<NatsServer> {
  const { GenericContainer, Wait, getContainerRuntimeClient } = await import('testcontainers');
  // Fix the port. Otherwise, Docker picks a new one at each restart.
  const port = await findFreePort(0);
  const content = renderNatsConfig({
    serverName: 'test',
    host: '0.0.0.0',
    port: NATS_PORT,
    storeDirectory: '/data',
    users,
  });
  const container = await new GenericContainer(NATS_IMAGE)
    .withCopyContentToContainer([{ content, target: NATS_CONFIG_PATH }])
    .withCommand(['nats-server', '--config', NATS_CONFIG_PATH])
    .withExposedPorts({ container: NATS_PORT, host: port })
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .start();
  const server = (await getContainerRuntimeClient()).container.getById(container.getId());
  return {
    host: container.getHost(),
    port,
    stop: async () => {
      await container.stop();
    },
    kill: async () => {
      await server.kill();
    },
    // Testcontainers' own restart waits for a log line. On podman, this line never appears, because the log ends with the first run.
    restart: async () => {
      await server.restart({ t: 10 });
      await eventually(() => readGreeting(container.getHost(), port));
    },
    reload: () => Promise.reject(new Error('the configuration in a container cannot be changed')),
  };
}

/**
 * Resolves when the nats-server sends its greeting. An open connection proves nothing, because the engine's proxy accepts connections
 * before the server does.
 */
async function readGreeting(host: string, port: number): Promise<void> {
  const socket = connect(port, host);
  try {
    const signal = AbortSignal.timeout(GREETING_TIMEOUT_MS);
    const [line] = (await once(socket, 'data', { signal })) as [Buffer]; // Safe cast: the socket has no encoding.
    if (!line.toString().startsWith('INFO ')) throw new Error(`not a nats-server: ${line.toString()}`);
  } finally {
    socket.destroy();
  }
}
