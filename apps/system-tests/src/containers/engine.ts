import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const outputLimit = 64 * 1024 * 1024;

/** No container engine responds. The message says what to install. */
export class NoEngineError extends Error {}

/** A container engine with its compose command. */
export class Engine {
  private constructor(
    readonly name: 'docker' | 'podman',
    private readonly composeCommand: readonly [string, ...string[]],
    /** Name and version. */
    readonly description: string,
  ) {}

  /**
   * Finds Docker with its compose plugin, or else podman with podman-compose.
   *
   * @throws NoEngineError if neither responds
   */
  static async find(): Promise<Engine> {
    const docker = await version('docker', ['info', '--format', '{{.ServerVersion}}']);
    const compose = await version('docker', ['compose', 'version', '--short']);
    if (docker !== undefined && compose !== undefined)
      return new Engine('docker', ['docker', 'compose'], `Docker ${docker}, Compose ${compose}`);
    const podman = await version('podman', ['info', '--format', '{{.Version.Version}}']);
    const podmanCompose = await version('podman-compose', ['--version']);
    if (podman !== undefined && podmanCompose !== undefined)
      return new Engine('podman', ['podman-compose'], `Podman ${podman}, ${podmanCompose.split('\n')[0]}`);
    throw new NoEngineError(
      `No container engine responds${docker === undefined ? '' : ' with a compose command'}. Install Docker with its compose plugin ` +
        '(https://docs.docker.com/engine/install/), or podman and podman-compose. Start the engine, and check that ' +
        '`docker info` and `docker compose version`, or `podman info` and `podman-compose --version`, succeed.',
    );
  }

  /** Runs an engine command. Returns its standard output. */
  async run(...args: string[]): Promise<string> {
    const { stdout } = await execute(this.name, args, { maxBuffer: outputLimit });
    return stdout.trim();
  }

  /** Standard output, followed by standard error. */
  async readLogs(container: string): Promise<string> {
    const { stdout, stderr } = await execute(this.name, ['logs', container], { maxBuffer: outputLimit });
    return stdout + stderr;
  }

  succeeds(...args: string[]): Promise<boolean> {
    return this.run(...args).then(
      () => true,
      () => false,
    );
  }

  /** Runs a compose command. If the command fails, throws an error with its output. */
  async compose(args: readonly string[]): Promise<void> {
    const [command, ...first] = this.composeCommand;
    await runToEnd(command, [...first, ...args]);
  }

  async build(dockerfile: string, tag: string, context: string): Promise<void> {
    const options = this.name === 'podman' ? await podmanBuildOptions() : [];
    await runToEnd(this.name, ['build', ...options, '--file', dockerfile, '--tag', tag, context]);
  }
}

async function version(command: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return (await execute(command, args, { timeout: 20_000 })).stdout.trim();
  } catch {
    return undefined; // not installed or not running
  }
}

/**
 * Options for a podman build. By default, podman builds lack this machine's network, certificates, and npm settings, so they cannot reach
 * this machine's registries. The Docker image format keeps the health check.
 */
async function podmanBuildOptions(): Promise<string[]> {
  const { stdout } = await execute('npm', ['config', 'get', 'globalconfig', 'userconfig']);
  const paths = new Map(
    stdout.split('\n').map((line) => line.split('=', 2).map((part) => part.trim()) as [string, string]),
  ); // Safe cast: two parts
  const mounts = [
    ['/etc/ssl/certs', '/etc/ssl/certs'],
    ['/usr/share/ca-certificates', '/usr/share/ca-certificates'],
    [paths.get('globalconfig'), '/usr/local/etc/npmrc'],
    [paths.get('userconfig'), '/root/.npmrc'],
  ] as const;
  const { existsSync } = await import('node:fs');
  const volumes = mounts.flatMap(([from, to]) =>
    from !== undefined && existsSync(from) ? ['--volume', `${from}:${to}:ro`] : [],
  );
  return ['--format', 'docker', '--isolation', 'chroot', '--network', 'host', ...volumes];
}

function runToEnd(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const note = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-20_000));
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`));
    });
  });
}
