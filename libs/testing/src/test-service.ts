/** The apps that can run in their own process. */
export type AppName =
  'all-in-one' | 'gateway' | 'events' | 'platform-connector' | 'platform-simulator' | 'streamer-monitor';

/** How a service ended. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A service under test. Only its environment configures it. */
export abstract class TestService {
  constructor(
    readonly app: AppName,
    readonly environment: Readonly<Record<string, string>>,
  ) {}

  /** Everything that the service has written to standard output and standard error. */
  abstract get output(): string;
  abstract get isRunning(): boolean;
  /** Starts the service and waits until it is ready; the error includes the output if the service ends instead. */
  abstract start(): Promise<void>;
  /** Stops the service gracefully. */
  abstract stop(): Promise<void>;
  /** Sends a signal and waits until the service ends. */
  abstract kill(signal: NodeJS.Signals): Promise<Exit>;

  /** Address of the public HTTP interface; only the gateway and the simulator have one. */
  get url(): string {
    return `http://127.0.0.1:${this.environment.PORT}`;
  }

  /** Address of `/health/*` and `/metrics`. */
  get adminUrl(): string {
    return `http://127.0.0.1:${this.environment.ADMIN_PORT}`;
  }

  /** Stops the service if it is running, then starts it on the same ports. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Returns the sum of a metric's values whose labels include the given labels; 0 when the metric has no such value yet. */
  async metric(name: string, labels: Record<string, string> = {}): Promise<number> {
    const response = await fetch(`${this.adminUrl}/metrics`);
    if (!response.ok) throw new Error(`${this.app} replied with ${response.status} instead of its metrics`);
    const lines = (await response.text()).split('\n').filter((line) => {
      const isNamed = line.startsWith(`${name}{`) || line.startsWith(`${name} `);
      return isNamed && Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`));
    });
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** Checks once whether the service is ready. If it is not, throws an error with the service's report. */
  protected async checkReady(): Promise<void> {
    const response = await fetch(`${this.adminUrl}/health/ready`);
    const report = await response.text();
    if (response.status !== 200) throw new Error(`${this.app} is not ready: ${report}`);
  }
}
