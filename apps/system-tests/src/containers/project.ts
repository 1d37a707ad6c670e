import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@stream-events/testing';
import { say, waitFor } from '../measure/progress.js';
import type { Engine } from './engine.js';
import { serviceImage } from './images.js';

/** Services of docker-compose.yml that can have several instances. */
export const scalable = ['gateway', 'events', 'platform-connector', 'streamer-monitor'] as const;
export type ScalableName = (typeof scalable)[number];
/** Services of docker-compose.yml that run permanently. */
export const longRunning = [...scalable, 'platform-simulator', 'postgres', 'nats', 'proxy'] as const;
export type ServiceName = (typeof longRunning)[number];

export type Scale = Record<ScalableName, number>;

const composeFile = 'docker-compose.yml';
const projectLabel = 'com.docker.compose.project';
const readyLimitMs = 90_000;
/** Pause between two health checks. Each check starts a process in the container. */
const pollMs = 250;
/** Linux counts CPU time in ticks of 10 ms. */
const tickMs = 10;

/** pino's level for warnings. Errors have higher levels. */
const warningLevel = 40;

interface LogLine {
  level: number;
  time: number;
  msg: string;
  err?: LoggedError;
}

interface LoggedError {
  message: string;
  cause?: LoggedError;
}

/** Startup time of a service, and the CPU time that its process has used so far. */
export interface Start {
  ms: number;
  cpuMs: number;
}

/** A compose project with its own volumes, secrets, and port. */
export class Project {
  private readonly name = `stream-events-test-${process.pid}`;

  private constructor(
    private readonly engine: Engine,
    private readonly directory: string,
    private readonly environment: ReadonlyMap<string, string>,
  ) {}

  /** Creates secrets with `deploy/create-env.sh`. Does not start containers. */
  static async create(engine: Engine): Promise<Project> {
    const directory = await mkdtemp(join(tmpdir(), 'stream-events-containers-'));
    const path = join(directory, 'env');
    await createSecrets(path);
    const settings = {
      IMAGE: serviceImage,
      PORT: String(await freePort()),
      SIMULATOR_PORT: String(await freePort()),
      // No simulated events, so that the test knows every event. No rate limits, because all requests come from one user.
      SIMULATOR_RATE: '0',
      RATE_LIMIT_REQUESTS: '0',
      RATE_LIMIT_WRITES: '0',
      MAX_STORED_MB_PER_DAY: '0',
      LOG_LEVEL: 'info',
    };
    const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => /^\w+=/.test(line));
    const entries = lines.map((line) => [line.replace(/=.*/, ''), line.replace(/^\w+=/, '')] as const);
    return new Project(engine, directory, new Map([...entries, ...Object.entries(settings)]));
  }

  /** URL of the proxy. */
  get url(): string {
    return `http://127.0.0.1:${this.variable('PORT')}`;
  }

  private get environmentPath(): string {
    return join(this.directory, 'env');
  }

  variable(name: string): string {
    const value = this.environment.get(name);
    if (value === undefined) throw new Error(`deploy/create-env.sh did not set ${name}`);
    return value;
  }

  /** Starts missing containers. Resolves when all instances are ready. */
  async up(scale: Scale): Promise<void> {
    // Not `--scale`: podman-compose accepts this option for only one service.
    const instances = scalable.map((name) => [
      `${name.toUpperCase().replace('-', '_')}_INSTANCES`,
      scale[name],
    ]);
    const lines = [...this.environment, ...instances].map(([name, value]) => `${name}=${value}\n`);
    await writeFile(this.environmentPath, lines.join(''), { mode: 0o600 });
    await this.compose('up', '--detach', '--no-build', '--no-recreate');
    const containers = (await Promise.all(scalable.map((name) => this.containersOf(name)))).flat();
    await Promise.all(containers.map((container) => this.untilReady(container)));
  }

  /** Removes containers, volumes, networks, and secrets. */
  async down(): Promise<void> {
    // podman-compose forgets surplus instances after a scale-down, so remove containers by label.
    const containers = await this.engine.run(
      'ps',
      '--all',
      '--quiet',
      '--filter',
      `label=${projectLabel}=${this.name}`,
    );
    if (containers !== '')
      await this.engine.run(
        'rm',
        '--force',
        ...(this.engine.name === 'podman' ? ['--depend', '--ignore'] : []),
        ...containers.split('\n'),
      );
    await this.compose('down', '--volumes');
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Names of the service's running containers, sorted. */
  async containersOf(service: ServiceName): Promise<string[]> {
    const filters = [`label=${projectLabel}=${this.name}`, `label=com.docker.compose.service=${service}`];
    const output = await this.engine.run(
      'ps',
      '--format',
      '{{.Names}}',
      ...filters.flatMap((filter) => ['--filter', filter]),
    );
    return output
      .split('\n')
      .filter((name) => name !== '')
      .sort();
  }

  /** IP addresses of the service's running containers. */
  async addressesOf(service: ServiceName): Promise<string[]> {
    const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
    const containers = await this.containersOf(service);
    return Promise.all(containers.map((name) => this.engine.run('inspect', '--format', format, name)));
  }

  /** Restarts a container, like `docker compose restart`. Resolves when the container is ready. */
  async restart(container: string): Promise<void> {
    await this.engine.run('restart', '--time', '30', container);
    await this.untilReady(container);
  }

  /**
   * Kills the container's process. Resolves when the container is ready again. Starts the container if the
   * engine does not: an engine can mistake the kill for a stop by the user.
   */
  async kill(container: string): Promise<void> {
    const startedAt = await this.startedAt(container);
    await this.engine.run('kill', '--signal', 'KILL', container);
    const isStarted = async (): Promise<true | undefined> => {
      if ((await this.state(container)) === 'exited') await this.engine.run('start', container);
      return (await this.startedAt(container)) === startedAt ? undefined : true;
    };
    await waitFor(isStarted, { limitMs: readyLimitMs, everyMs: pollMs });
    await this.untilReady(container);
  }

  /** Stops and removes a container, like a scale-down. */
  async remove(container: string): Promise<void> {
    await this.engine.run('stop', '--time', '30', container);
    // Podman cannot remove a container that others depend on. The proxy depends on the gateways.
    if (this.engine.name === 'docker') await this.engine.run('rm', container);
  }

  /** Waits for the container's health check. */
  async untilReady(container: string): Promise<void> {
    const ready = await waitFor(async () => ((await this.isHealthy(container)) ? true : undefined), {
      limitMs: readyLimitMs,
      everyMs: pollMs,
    });
    if (ready === undefined)
      throw new Error(
        `${container} is not ready. Its log ends with:\n${(await this.engine.readLogs(container)).slice(-4_000)}`,
      );
  }

  async isHealthy(container: string): Promise<boolean> {
    // Container names end with service and number: `<project>_events_1` or `<project>-events-1`.
    if (scalable.some((name) => new RegExp(`[_-]${name}[_-]\\d+$`).test(container)))
      return this.engine.succeeds('exec', container, 'node', '/app/deploy/health.mjs');
    // Without systemd, podman runs health checks only on request.
    if (this.engine.name === 'podman') {
      if (await this.engine.succeeds('healthcheck', 'run', container)) return true;
      // The health check of the nats-server image needs wget. If wget is missing, check only that the container runs.
      return (
        container.includes('nats') &&
        !(await this.engine.succeeds('exec', container, 'which', 'wget')) &&
        (await this.state(container)) === 'running'
      );
    }
    return (
      (await this.engine.run('inspect', '--format', '{{.State.Health.Status}}', container)) === 'healthy'
    );
  }

  /** Time from container start to the log line "service started", and CPU time so far. */
  async readStart(container: string): Promise<Start> {
    const lines = (await this.engine.readLogs(container))
      .split('\n')
      .filter((line) => line.includes('"service started"'));
    const { time } = JSON.parse(lines.at(-1) ?? '{}') as { time?: number }; // Safe cast: the log contains JSON lines
    if (time === undefined) throw new Error(`the log of ${container} does not contain "service started"`);
    const stat = (await this.engine.run('exec', container, 'cat', '/proc/1/stat')).split(' ');
    const ticks = Number(stat[13]) + Number(stat[14]); // utime and stime: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    return { ms: time - Date.parse(await this.startedAt(container)), cpuMs: ticks * tickMs };
  }

  /** Counts the services' warnings and errors since `since` (milliseconds since 1970), by message. */
  async readWarnings(since: number): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const service of scalable)
      for (const container of await this.containersOf(service))
        for (const line of (await this.engine.readLogs(container)).split('\n')) {
          if (!line.startsWith('{')) continue;
          const { level, time, msg, err } = JSON.parse(line) as LogLine; // Safe cast: the services log in this format
          if (level < warningLevel || time < since) continue;
          const text = [`${service}: ${msg}`, err?.message, err?.cause?.message].filter(Boolean).join(': ');
          counts.set(text, (counts.get(text) ?? 0) + 1);
        }
    return counts;
  }

  private async startedAt(container: string): Promise<string> {
    return String(
      JSON.parse(await this.engine.run('inspect', '--format', '{{json .State.StartedAt}}', container)),
    );
  }

  private state(container: string): Promise<string> {
    return this.engine.run('inspect', '--format', '{{.State.Status}}', container);
  }

  private async compose(...args: string[]): Promise<void> {
    const options = ['--project-name', this.name, '--env-file', this.environmentPath, '--file', composeFile];
    await this.engine.compose([...options, '--profile', 'simulator', ...args]);
  }
}

async function createSecrets(path: string): Promise<void> {
  const child: ChildProcess = spawn('deploy/create-env.sh', ['--simulator'], {
    env: { ...process.env, ENV_FILE: path },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`deploy/create-env.sh ended with ${String(code)}`);
  say('secrets: created');
}
