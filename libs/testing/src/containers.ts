import { renderNatsConfig, findFreePort, type NatsConfigOptions } from '@stream-events/embedded';

/*
 * Servers in containers, for machines with a Docker engine. Written against testcontainers 11.11 and checked by
 * the compiler only: the machine it was written on has no Docker engine, so it was never executed there. The
 * packages are imported only when used, as they take half a second. Containers that a killed run leaves behind
 * are removed by Testcontainers' own reaper (Ryuk).
 */

const POSTGRES_IMAGE = 'postgres:18-alpine';
const NATS_IMAGE = 'nats:2.12-alpine';
const NATS_PORT = 4222;
const NATS_CONFIG_PATH = '/etc/nats/stream-events.conf';

export interface PostgresContainer {
  url: string;
  stop(): Promise<void>;
}

export async function startPostgresContainer(
  settings: Readonly<Record<string, string>>,
): Promise<PostgresContainer> {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const container = await new PostgreSqlContainer(POSTGRES_IMAGE)
    .withDatabase('stream_events')
    // The same order of text as in the embedded server.
    .withEnvironment({
      POSTGRES_INITDB_ARGS: '--locale=C --locale-provider=builtin --builtin-locale=C.UTF-8',
    })
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
  /** Of a running or a killed one; port and data stay. */
  restart(): Promise<void>;
}

/**
 * The plain container instead of `@testcontainers/nats`: that one always passes `--user` and `--pass`, while
 * here the same configuration as in the embedded server must decide who may do what.
 */
export async function startNatsContainer(users: NatsConfigOptions['users']): Promise<NatsServer> {
  const { GenericContainer, Wait, getContainerRuntimeClient } = await import('testcontainers');
  // Docker gives another port at each restart unless one was fixed.
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
  return {
    host: container.getHost(),
    port,
    stop: async () => {
      await container.stop();
    },
    kill: async () => {
      const client = await getContainerRuntimeClient();
      await client.container.getById(container.getId()).kill();
    },
    restart: () => container.restart({ timeout: 10 }),
  };
}
