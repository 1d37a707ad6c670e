import { request } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where the test servers run. */
export type ServerSource = 'containers' | 'embedded';

/** The global setup stores its choice in this variable for the test files. Set it yourself to skip the check for Docker. */
const VARIABLE = 'TEST_SERVERS';
/** Time limit for Docker's ping. A running engine responds within milliseconds, because its socket is local. */
const PING_TIMEOUT_MS = 1_000;

/** Chooses containers if a Docker engine responds, and embedded servers if not. */
export async function chooseServerSource(): Promise<ServerSource> {
  const chosen = process.env[VARIABLE];
  if (chosen === 'containers' || chosen === 'embedded') return chosen;
  if (chosen !== undefined)
    throw new Error(`${VARIABLE} is "${chosen}"; it can be "containers" or "embedded".`);
  const source = (await isDockerAnswering()) ? 'containers' : 'embedded';
  process.env[VARIABLE] = source;
  return source;
}

async function isDockerAnswering(): Promise<boolean> {
  const answers = await Promise.all(dockerAddresses(process.env).map(ping));
  return answers.includes(true);
}

/** Address of a Docker engine, as node:http options. */
export type DockerAddress = { socketPath: string } | { host: string; port: number };

/** The addresses that Testcontainers tries: https://node.testcontainers.org/supported-container-runtimes/ */
export function dockerAddresses(environment: Readonly<Record<string, string | undefined>>): DockerAddress[] {
  const given = environment.DOCKER_HOST;
  if (given !== undefined && given !== '') {
    const url = new URL(given);
    if (url.protocol === 'unix:') return [{ socketPath: url.pathname }];
    // No check exists for npipe: (Windows) and ssh:. Set TEST_SERVERS=containers there.
    return url.protocol === 'tcp:' ? [{ host: url.hostname, port: Number(url.port || 2375) }] : [];
  }
  const runtimeDirectory = environment.XDG_RUNTIME_DIR;
  return [
    '/var/run/docker.sock',
    ...(runtimeDirectory === undefined ? [] : [join(runtimeDirectory, 'docker.sock')]),
    join(homedir(), '.docker/run/docker.sock'),
    join(homedir(), '.docker/desktop/docker.sock'),
  ].map((socketPath) => ({ socketPath }));
}

function ping(address: DockerAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const call = request({ ...address, path: '/_ping', timeout: PING_TIMEOUT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.once('timeout', () => call.destroy(new Error('no response in time')));
    call.once('error', () => resolve(false));
    call.end();
  });
}
