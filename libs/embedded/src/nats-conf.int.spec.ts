import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort } from '@stream-events/testing';
import { connect } from '@nats-io/transport-node';
import { findNatsServer } from './nats-server-binary.js';

const configPath = 'deploy/nats-accounts.conf';
let directory: string;
let binary: string;
let server: ChildProcess | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nats-conf-test-'));
  binary =
    process.env.TEST_NATS_BINARY ??
    (await findNatsServer({ cacheDirectory: directory, log: () => undefined }));
});
afterAll(async () => {
  if (server) {
    server.kill('SIGKILL');
    await once(server, 'close');
  }
  await rm(directory, { recursive: true, force: true });
});

/** Creates a password for each variable in the configuration. */
function passwordsFor(config: string): Record<string, string> {
  const names = config.match(/(?<=\$)NATS_[A-Z_]+_PASSWORD/g) ?? [];
  return Object.fromEntries(names.map((name) => [name, `password-of-${name.toLowerCase()}`]));
}

describe(configPath, () => {
  it('is accepted by the server, and gives a service two users with one password', async () => {
    const config = await readFile(configPath, 'utf8');
    const env = passwordsFor(config);
    const path = join(directory, 'nats.conf');
    await writeFile(path, config.replace('"/data"', JSON.stringify(join(directory, 'data'))));
    const port = await freePort();
    const args = ['--config', path, '--addr', '127.0.0.1', '--port', String(port)];

    const test = spawn(binary, [...args, '-t'], { env });
    expect(await once(test, 'close')).toEqual([0, null]);

    server = spawn(binary, args, { env });
    for (const user of ['gateway', 'gateway.events', 'events', 'events.events', 'subscriber']) {
      const pass = env[`NATS_${user.split('.')[0]?.toUpperCase()}_PASSWORD`] ?? '';
      const options = { servers: `127.0.0.1:${port}`, user, pass, reconnect: false };
      await (await eventually(() => connect(options), { timeoutMs: 50_000 })).close();
    }
  });
});
