import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { eventually } from './eventually.js';
import { TestService, type AppName, type Exit } from './test-service.js';

// A start takes about a second on an idle machine, and many seconds while other test files keep the cores busy.
const startTimeoutMs = 120_000;
// Longer than the services' own limit of 25 s. A process that still runs after this time is stuck.
const stopTimeoutMs = 28_000;

// The service exits when its input closes. The pipe closes however the test process ends, so no service outlives its test.
const endWithTheTest = `data:text/javascript,${encodeURIComponent(
  'process.stdin.on("end", () => process.exit(70)).resume().unref()',
)}`;

/** Options of `ServiceProcess`. */
export interface ServiceProcessOptions {
  /** Options for Node itself, such as a profiler's. */
  nodeOptions?: readonly string[] | undefined;
  /** The built checkout to start the service from. Default: this checkout. */
  checkout?: string | undefined;
  /** The command line, such as `migrate`. Default: none, which runs the service. */
  args?: readonly string[] | undefined;
}

/** A service as an operator runs it: `node apps/<app>/dist/main.js`, configured by its environment. */
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

  /** The id of the running process. */
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
   * Starts the service, waits until it ends, and returns how it ended and its output. For starts that must fail. Stops the service if it
   * becomes ready.
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

  /** Stops the service with SIGTERM, or with SIGKILL when it still runs after 28 s. */
  async stop(): Promise<void> {
    if (!this.child || !this.isRunning) return;
    const child = this.child;
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    await this.kill('SIGTERM');
    clearTimeout(timer);
  }

  /** Returns true when the service is ready, and false when it has ended. After 120 s, kills the service and throws. */
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
    child.stdin.on('error', () => undefined); // nothing writes to it
    this.child = child;
    // `close`, not `exit`: all output has been read by then.
    this.exit = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode }));
    return this.exit;
  }
}
