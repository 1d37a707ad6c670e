import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { eventually } from './eventually.js';
import { TestService, type AppName, type Exit } from './test-service.js';

// Time limit for startup. A start takes 1 s on an idle machine, and many seconds while other test files use all cores.
const startTimeoutMs = 120_000;
// Time limit for shutdown. Services stop within 25 s, so a process that runs longer is stuck.
const stopTimeoutMs = 28_000;

// Preloaded code that exits the service when standard input closes. The system closes this pipe even if the test process is killed, so no
// service outlives its test.
const endWithTheTest = `data:text/javascript,${encodeURIComponent(
  'process.stdin.on("end", () => process.exit(70)).resume().unref()',
)}`;

/** Options of `ServiceProcess`. */
export interface ServiceProcessOptions {
  /** Options for Node, such as profiler flags. */
  nodeOptions?: readonly string[] | undefined;
  /** A built checkout of the repository. Default: this one. */
  checkout?: string | undefined;
  /** Command-line arguments, such as `migrate`. Default: none, which runs the service. */
  args?: readonly string[] | undefined;
}

/** A service as an operator runs it: `node apps/<app>/dist/main.js` with environment variables. */
export class ServiceProcess extends TestService {
  private child: ChildProcess | undefined;
  private exit: Promise<Exit> | undefined;
  private written = '';

  constructor(
    app: AppName,
    environment: Readonly<Record<string, string>>,
    private readonly options: ServiceProcessOptions = {},
  ) {
    super(app, environment);
  }

  get output(): string {
    return this.written;
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error(`${this.app} was never started`);
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.child?.exitCode === null && this.child.signalCode === null;
  }

  async start(): Promise<void> {
    const exit = this.spawn();
    if (await this.isReadyInTime()) return;
    const { code, signal } = await exit;
    throw new Error(`${this.app} ended with ${code ?? signal} instead of starting:\n${this.written}`);
  }

  /**
   * For tests in which startup must fail. Waits until the service ends, and returns its exit and output. Stops the service if it becomes
   * ready.
   */
  async runToEnd(): Promise<Exit & { output: string }> {
    const exit = this.spawn();
    if (await this.isReadyInTime()) await this.stop();
    return { ...(await exit), output: this.written };
  }

  async kill(signal: NodeJS.Signals): Promise<Exit> {
    if (!this.child || !this.exit) throw new Error(`${this.app} was never started`);
    if (this.isRunning) this.child.kill(signal);
    return this.exit;
  }

  /** Sends SIGTERM, and SIGKILL after 28 s. */
  async stop(): Promise<void> {
    if (!this.child || !this.isRunning) return;
    const child = this.child;
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    await this.kill('SIGTERM');
    clearTimeout(timer);
  }

  /** Returns true when the service is ready, and false if it exits first. After 120 s, kills the service and throws. */
  private async isReadyInTime(): Promise<boolean> {
    const check = async (): Promise<boolean> => {
      if (!this.isRunning) return false;
      await this.checkReady();
      return true;
    };
    try {
      return await eventually(check, { timeoutMs: startTimeoutMs });
    } catch (error) {
      await this.kill('SIGKILL');
      throw error;
    }
  }

  private spawn(): Promise<Exit> {
    this.written = '';
    const { nodeOptions = [], checkout = '.', args = [] } = this.options;
    const main = resolve(checkout, 'apps', this.app, 'dist/main.js');
    const child = spawn(process.execPath, [...nodeOptions, '--import', endWithTheTest, main, ...args], {
      cwd: checkout,
      env: { PATH: process.env.PATH, ...this.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const note = (chunk: Buffer): void => void (this.written += chunk.toString());
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    child.stdin.on('error', () => undefined); // the test never writes to standard input
    this.child = child;
    // Wait for `close`: `exit` can fire before all output has arrived.
    this.exit = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode }));
    return this.exit;
  }
}
