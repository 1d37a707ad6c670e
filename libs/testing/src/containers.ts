import { once } from 'node:events';
import { connect } from 'node:net';
import { renderNatsConfig, findFreePort, type NatsConfigOptions } from '@stream-events/embedded';
import { eventually } from './eventually.js';

/*
 * Servers in containers, for machines with a Docker engine. Testcontainers' packages take half a second to load, so they are imported only
 * when they are needed. Testcontainers' reaper (Ryuk) removes the containers of a killed run.
 *
 * A container counts as started when its log says so. Engines without systemd run no health checks, so waiting for a health check would
 * never end.
 */

const POSTGRES_IMAGE = 'postgres:18-alpine';
const NATS_IMAGE = 'nats:2.12-alpine';
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
    // Sort text like the embedded server. Without an encoding, initdb derives SQL_ASCII from the locale, which C.UTF-8 rejects.
    .withEnvironment({
      POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8',
    })
    // The image first starts a temporary server for its own setup, so this line is logged twice.
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
 * Starts a plain container instead of the container of `@testcontainers/nats`, which always passes `--user` and `--pass`. The permissions
 * must come from the same configuration as in the embedded server.
 */
export async function startNatsContainer(users: NatsConfigOptions['users']): Promise<NatsServer> {
  const { GenericContainer, Wait, getContainerRuntimeClient } = await import('testcontainers');
  // Docker changes the port at each restart unless the port is fixed.
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
    // Does not use Testcontainers' restart, which waits for a log line. On podman, this line never appears, because the log ends with the
    // first run.
    restart: async () => {
      await server.restart({ t: 10 });
      await eventually(() => readGreeting(container.getHost(), port));
    },
    reload: () => Promise.reject(new Error('the configuration in a container cannot be changed')),
  };
}

/**
 * Resolves when a nats-server sends its first line. A connection alone proves nothing, because the engine's proxy also accepts connections.
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
