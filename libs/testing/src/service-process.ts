import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { eventually } from './eventually.js';

/** The apps that run as a process of their own. */
export type AppName = 'gateway' | 'events' | 'platform-connector' | 'platform-simulator' | 'streamer-monitor';

// Two cores and three test files at once, and whatever else runs: a start that takes a second alone may take many then.
const startTimeoutMs = 60_000;
// Above the services' own 25 s: whoever is not gone by then hangs.
const stopTimeoutMs = 28_000;

// The pipe closes when the test process ends, however that happens: no service outlives its test.
const endWithTheTest = `data:text/javascript,${encodeURIComponent(
  'process.stdin.on("end", () => process.exit(70)).resume().unref()',
)}`;

/** How a process has ended. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A service as an operator runs it: `node apps/<app>/dist/main.js`, configured by its environment alone. */
export class ServiceProcess {
  private child: ChildProcess | undefined;
  private exit: Promise<Exit> | undefined;
  private written = '';

  constructor(
    readonly app: AppName,
    readonly environment: Readonly<Record<string, string>>,
    /** Options of Node itself, for a profile. */
    private readonly nodeOptions: readonly string[] = [],
  ) {}

  /** Where its public HTTP interface listens; the events service has none. */
  get url(): string {
    return `http://127.0.0.1:${this.environment.PORT}`;
  }

  /** Where `/health/*` and `/metrics` are. */
  get adminUrl(): string {
    return `http://127.0.0.1:${this.environment.ADMIN_PORT}`;
  }

  /** Everything that it has written to standard output and standard error. */
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

  /** Starts it and waits until it is ready; what it wrote is in the error when it ends instead. */
  async start(): Promise<void> {
    const exit = this.spawn();
    if (await this.isReadyInTime()) return;
    const { code, signal } = await exit;
    throw new Error(`${this.app} ended with ${code ?? signal} instead of starting:\n${this.written}`);
  }

  /** Starts it and waits for its end, for starts that must be refused; one that gets ready instead is ended. */
  async runToEnd(): Promise<Exit & { output: string }> {
    const exit = this.spawn();
    if (await this.isReadyInTime()) await this.stop();
    return { ...(await exit), output: this.written };
  }

  /** Sends a signal and waits for the end. */
  async kill(signal: NodeJS.Signals): Promise<Exit> {
    if (!this.child || !this.exit) throw new Error(`${this.app} was never started`);
    if (this.isRunning) this.child.kill(signal);
    return this.exit;
  }

  /** Starts it again on the same ports, after it was killed or instead of what runs. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Ends it in order, or by force when that takes too long. */
  async stop(): Promise<void> {
    if (!this.child || !this.isRunning) return;
    const child = this.child;
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    await this.kill('SIGTERM');
    clearTimeout(timer);
  }

  /** The value of a metric whose labels include these; 0 when it has not been counted yet. */
  async metric(name: string, labels: Record<string, string> = {}): Promise<number> {
    const response = await fetch(`${this.adminUrl}/metrics`);
    const lines = (await response.text()).split('\n').filter((line) => {
      const isNamed = line.startsWith(`${name}{`) || line.startsWith(`${name} `);
      return isNamed && Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`));
    });
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** Waits until it is ready (true) or has ended (false); one that does neither in time is killed. */
  private async isReadyInTime(): Promise<boolean> {
    const check = async (): Promise<boolean> => {
      if (!this.isRunning) return false;
      const response = await fetch(`${this.adminUrl}/health/ready`);
      const report = await response.text();
      if (response.status !== 200) throw new Error(`${this.app} is not ready: ${report}`);
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
    const main = resolve('apps', this.app, 'dist/main.js');
    const child = spawn(process.execPath, [...this.nodeOptions, '--import', endWithTheTest, main], {
      env: { PATH: process.env.PATH, ...this.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const note = (chunk: Buffer): void => void (this.written += chunk.toString());
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    child.stdin.on('error', () => undefined); // nothing is ever written to it
    this.child = child;
    // `close`, not `exit`: only then everything that was written has been read.
    this.exit = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode }));
    return this.exit;
  }
}
