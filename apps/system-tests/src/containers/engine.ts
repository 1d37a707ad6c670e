import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const outputLimit = 64 * 1024 * 1024;

/** A container engine with its compose command. */
export class Engine {
  private constructor(
    readonly name: 'docker' | 'podman',
    private readonly composeCommand: readonly [string, ...string[]],
    /** Name and version. */
    readonly description: string,
  ) {}

  /** Finds Docker with its compose plugin, or else podman with podman-compose. Returns undefined if neither responds. */
  static async find(): Promise<Engine | undefined> {
    const docker = await version('docker', ['info', '--format', '{{.ServerVersion}}']);
    const compose = await version('docker', ['compose', 'version', '--short']);
    if (docker !== undefined && compose !== undefined)
      return new Engine('docker', ['docker', 'compose'], `Docker ${docker}, Compose ${compose}`);
    const podman = await version('podman', ['info', '--format', '{{.Version.Version}}']);
    const podmanCompose = await version('podman-compose', ['--version']);
    if (podman !== undefined && podmanCompose !== undefined)
      return new Engine('podman', ['podman-compose'], `Podman ${podman}, ${podmanCompose.split('\n')[0]}`);
    return undefined;
  }

  /** Runs an engine command. Returns its standard output. */
  async run(...args: string[]): Promise<string> {
    const { stdout } = await execute(this.name, args, { maxBuffer: outputLimit });
    return stdout.trim();
  }

  succeeds(...args: string[]): Promise<boolean> {
    return this.run(...args).then(
      () => true,
      () => false,
    );
  }

  /** Standard output and standard error of the container's last lines. */
  async readLog(container: string): Promise<string> {
    const { stdout, stderr } = await execute(this.name, ['logs', '--tail', '50', container]);
    return stdout + stderr;
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
  const pathOf = async (setting: string): Promise<string> =>
    (await execute('npm', ['config', 'get', setting])).stdout.trim();
  const mounts = [
    ['/etc/ssl/certs', '/etc/ssl/certs'],
    ['/usr/share/ca-certificates', '/usr/share/ca-certificates'],
    [await pathOf('globalconfig'), '/usr/local/etc/npmrc'],
    [await pathOf('userconfig'), '/root/.npmrc'],
  ] as const;
  const volumes = mounts
    .filter(([from]) => existsSync(from))
    .flatMap(([from, to]) => ['--volume', `${from}:${to}:ro`]);
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
