import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  choosePasswords,
  renderAccounts,
  startEmbeddedNats,
  type NatsConfigOptions,
  type NatsUser,
} from '@stream-events/embedded';
import { startNatsContainer, type NatsServer } from './containers.js';
import { freePort } from './free-port.js';
import { createGuardedDirectory } from './guarded-directory.js';
import { chooseServerSource } from './server-source.js';

/** A nats-server with JetStream that belongs to one test file. */
export interface TestNats {
  /** nats://<host>:<port>, without credentials. */
  url: string;
  /** nats://<user>:<password>@<host>:<port>. Throws for an unknown user. */
  urlFor(userName: string): string;
  /** Shuts the server down gracefully and removes its data. */
  stop(): Promise<void>;
  /** Simulates a crash with SIGKILL. `restart()` starts the server with the same data. */
  kill(): Promise<void>;
  /** Restarts with the same port, data, and passwords. Shuts a running server down gracefully first. */
  restart(): Promise<void>;
  /**
   * Changes passwords and reloads the running server, like `nats-server --signal reload`. Users that share a password all get the new one,
   * and `urlFor` returns it. Not available in a container.
   */
  changePasswords(passwords: Readonly<Record<string, string>>): Promise<void>;
}

/** Variable that passes the path of nats-server from the global setup to the test files. */
export const NATS_BINARY_VARIABLE = 'TEST_NATS_BINARY';

/** Starts a nats-server in a container if a Docker engine responds, and as a child process if not. */
export async function startTestNats(users: readonly NatsUser[]): Promise<TestNats> {
  let withPasswords = choosePasswords(users);
  const source = await chooseServerSource();
  const server = await (source === 'containers'
    ? startNatsContainer(withPasswords)
    : startGuardedNats(withPasswords));
  const address = `${server.host}:${server.port}`;
  return {
    url: `nats://${address}`,
    urlFor: (userName) => {
      const user = withPasswords.find(({ name }) => name === userName);
      if (!user) throw new Error(`This nats-server was started without a user "${userName}".`);
      return `nats://${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}@${address}`;
    },
    stop: () => server.stop(),
    kill: () => server.kill(),
    restart: () => server.restart(),
    changePasswords: async (passwords) => {
      withPasswords = withPasswords.map((user) => ({
        ...user,
        password: passwords[user.passwordOf ?? user.name] ?? user.password,
      }));
      await server.reload(withPasswords);
    },
  };
}

async function startGuardedNats(users: NatsConfigOptions['users']): Promise<NatsServer> {
  const directory = await createGuardedDirectory();
  const binary = process.env[NATS_BINARY_VARIABLE];
  const start = (port: number) =>
    startEmbeddedNats({
      directory: directory.path,
      users,
      log: () => undefined,
      port,
      ...(binary === undefined ? {} : { binary }),
    });
  try {
    // Do not take a port from the system: an outgoing connection could take it while the server is down.
    let server = await start(await freePort());
    return {
      host: '127.0.0.1',
      port: server.port,
      stop: async () => {
        await server.stop();
        await directory.remove();
      },
      kill: () => server.kill(),
      reload: async (changed) => {
        const path = join(directory.path, 'nats', 'nats-server.conf');
        const config = JSON.parse(await readFile(path, 'utf8')) as object; // Safe cast: renderNatsConfig writes JSON.
        await writeFile(path, JSON.stringify({ ...config, accounts: renderAccounts(changed) }));
        process.kill(server.pid, 'SIGHUP');
      },
      restart: async () => {
        await server.stop();
        server = await start(server.port);
      },
    };
  } catch (error) {
    await directory.remove();
    throw error;
  }
}
