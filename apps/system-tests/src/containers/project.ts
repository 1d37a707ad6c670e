import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@stream-events/testing';
import { waitFor } from '../measure/progress.js';
import type { Engine } from './engine.js';
import { serviceImage } from './images.js';

/** Services of docker-compose.yml that can have several instances. */
export const scalable = ['gateway', 'events', 'platform-connector', 'streamer-monitor'] as const;
/** Services of docker-compose.yml that run permanently. */
export const longRunning = [...scalable, 'platform-simulator', 'postgres', 'nats', 'proxy'] as const;
export type ServiceName = (typeof longRunning)[number];
export type Scale = Record<(typeof scalable)[number], number>;

const projectLabel = 'com.docker.compose.project';
const readyLimitMs = 90_000;
/** Pause between two health checks. Each check starts a process in the container. */
const pollMs = 250;

/** A compose project with its own volumes, secrets, and port. */
export class Project {
  private readonly name = `stream-events-test-${process.pid}`;

  private constructor(
    readonly engine: Engine,
    private readonly directory: string,
    private readonly environment: ReadonlyMap<string, string>,
  ) {}

  /** Creates secrets with `deploy/create-env.sh`, runs `work` on the started project, and removes the project. */
  static async run<T>(engine: Engine, scale: Scale, work: (project: Project) => Promise<T>): Promise<T> {
    const directory = await mkdtemp(join(tmpdir(), 'stream-events-containers-'));
    const path = join(directory, 'env');
    execFileSync('deploy/create-env.sh', ['--simulator'], { env: { ...process.env, ENV_FILE: path } });
    const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => /^\w+=/.test(line));
    const project = new Project(
      engine,
      directory,
      new Map([
        ...lines.map((line) => [line.replace(/=.*/, ''), line.replace(/^\w+=/, '')] as const),
        ['IMAGE', serviceImage],
        ['PORT', String(await freePort())],
        ['SIMULATOR_PORT', String(await freePort())],
        // No simulated events, so that the test knows every event. No rate limits, because all requests come from one user.
        ['SIMULATOR_RATE', '0'],
        ['RATE_LIMIT_REQUESTS', '0'],
        ['RATE_LIMIT_WRITES', '0'],
        ['MAX_STORED_MB_PER_DAY', '0'],
      ]),
    );
    try {
      await project.up(scale);
      return await work(project);
    } finally {
      await project.down();
    }
  }

  /** URL of the proxy. */
  get url(): string {
    return `http://127.0.0.1:${this.variable('PORT')}`;
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
    await writeFile(join(this.directory, 'env'), lines.join(''), { mode: 0o600 });
    await this.compose('up', '--detach', '--no-build', '--no-recreate');
    const containers = (await Promise.all(scalable.map((name) => this.containersOf(name)))).flat();
    await Promise.all(containers.map((container) => this.untilReady(container)));
  }

  /** Names of the service's running containers, sorted. */
  async containersOf(service: ServiceName): Promise<string[]> {
    const labels = [`${projectLabel}=${this.name}`, `com.docker.compose.service=${service}`];
    const filters = labels.flatMap((label) => ['--filter', `label=${label}`]);
    const output = await this.engine.run('ps', '--format', '{{.Names}}', ...filters);
    return output.split('\n').filter(Boolean).sort();
  }

  async firstOf(service: ServiceName): Promise<string> {
    const [container] = await this.containersOf(service);
    if (container === undefined) throw new Error(`${service} does not run`);
    return container;
  }

  /** IP addresses of the service's running containers. */
  async addressesOf(service: ServiceName): Promise<string[]> {
    const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
    return Promise.all((await this.containersOf(service)).map((name) => this.inspect(name, format)));
  }

  /** Process ids of all containers' main processes, on this machine. */
  async pids(): Promise<number[]> {
    const containers = (await Promise.all(longRunning.map((name) => this.containersOf(name)))).flat();
    const pids = await Promise.all(containers.map((name) => this.inspect(name, '{{.State.Pid}}')));
    return pids.map(Number);
  }

  /** Restarts a container, like `docker compose restart`. Resolves when the container is ready. */
  async restart(container: string): Promise<void> {
    await this.engine.run('restart', '--time', '30', container);
    await this.untilReady(container);
  }

  async stop(container: string): Promise<void> {
    await this.engine.run('stop', '--time', '30', container);
  }

  async start(container: string): Promise<void> {
    await this.engine.run('start', container);
    await this.untilReady(container);
  }

  /**
   * Kills the container's process. Resolves when the container is ready again. Starts the container if the
   * engine does not: an engine can mistake the kill for a stop by the user.
   */
  async kill(container: string): Promise<void> {
    const startTime = '{{json .State.StartedAt}}';
    const startedAt = await this.inspect(container, startTime);
    await this.engine.run('kill', '--signal', 'KILL', container);
    const isStarted = async (): Promise<true | undefined> => {
      if ((await this.state(container)) === 'exited') await this.engine.run('start', container);
      return (await this.inspect(container, startTime)) === startedAt ? undefined : true;
    };
    await waitFor(isStarted, { limitMs: readyLimitMs, everyMs: pollMs });
    await this.untilReady(container);
  }

  /** Stops and removes a container, like a scale-down. */
  async remove(container: string): Promise<void> {
    await this.stop(container);
    // Podman cannot remove a container that others depend on. The proxy depends on the gateways.
    if (this.engine.name === 'docker') await this.engine.run('rm', container);
  }

  /** Waits for the container's health check. */
  private async untilReady(container: string): Promise<void> {
    const isReady = async (): Promise<true | undefined> => (await this.isHealthy(container)) || undefined;
    if (await waitFor(isReady, { limitMs: readyLimitMs, everyMs: pollMs })) return;
    throw new Error(`${container} is not ready. Its log ends with:\n${await this.engine.readLog(container)}`);
  }

  private async isHealthy(container: string): Promise<boolean> {
    // Container names end with service and number: `<project>_events_1` or `<project>-events-1`.
    if (scalable.some((name) => new RegExp(`[_-]${name}[_-]\\d+$`).test(container)))
      return this.engine.succeeds('exec', container, 'node', '/app/deploy/health.mjs');
    if (this.engine.name === 'docker')
      return (await this.inspect(container, '{{.State.Health.Status}}')) === 'healthy';
    // Without systemd, podman runs health checks only on request.
    if (await this.engine.succeeds('healthcheck', 'run', container)) return true;
    // The health check of the nats-server image needs wget. If wget is missing, check only that the container runs.
    return (
      container.includes('nats') &&
      !(await this.engine.succeeds('exec', container, 'which', 'wget')) &&
      (await this.state(container)) === 'running'
    );
  }

  private state(container: string): Promise<string> {
    return this.inspect(container, '{{.State.Status}}');
  }

  private inspect(container: string, format: string): Promise<string> {
    return this.engine.run('inspect', '--format', format, container);
  }

  /** Removes containers, volumes, networks, and secrets. */
  private async down(): Promise<void> {
    // podman-compose forgets surplus instances after a scale-down, so remove containers by label.
    const label = `label=${projectLabel}=${this.name}`;
    const containers = await this.engine.run('ps', '--all', '--quiet', '--filter', label);
    const options = this.engine.name === 'podman' ? ['--depend', '--ignore'] : [];
    if (containers !== '') await this.engine.run('rm', '--force', ...options, ...containers.split('\n'));
    await this.compose('down', '--volumes');
    await rm(this.directory, { recursive: true, force: true });
  }

  private async compose(...args: string[]): Promise<void> {
    const files = ['--env-file', join(this.directory, 'env'), '--file', 'docker-compose.yml'];
    await this.engine.compose(['--project-name', this.name, ...files, '--profile', 'simulator', ...args]);
  }
}
