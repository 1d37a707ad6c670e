/** Apps that run as their own process. */
export type AppName =
  'all-in-one' | 'gateway' | 'events' | 'platform-connector' | 'platform-simulator' | 'streamer-monitor';

/** How a service ended. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A service under test. Its configuration comes only from environment variables. */
export abstract class TestService {
  constructor(
    readonly app: AppName,
    readonly environment: Readonly<Record<string, string>>,
  ) {}

  /** Standard output and standard error so far. */
  abstract get output(): string;
  abstract get isRunning(): boolean;
  /** Resolves when the service is ready. If the service exits instead, the error contains its output. */
  abstract start(): Promise<void>;
  abstract stop(): Promise<void>;
  /** Sends the signal and waits for the exit. */
  abstract kill(signal: NodeJS.Signals): Promise<Exit>;

  /** Base URL of the public HTTP interface. Only the gateway, the simulator, and all-in-one have one. */
  get url(): string {
    return `http://127.0.0.1:${this.environment.PORT}`;
  }

  /** Base URL of `/health/*` and `/metrics`. */
  get adminUrl(): string {
    return `http://127.0.0.1:${this.environment.ADMIN_PORT}`;
  }

  /** Stops the service if it runs, and starts it on the same ports. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Sums the metric's values that have the given labels. Returns 0 if the metric has no such value yet. */
  async metric(name: string, labels: Record<string, string> = {}): Promise<number> {
    const response = await fetch(`${this.adminUrl}/metrics`);
    if (!response.ok) throw new Error(`${this.app} replied with ${response.status} instead of its metrics`);
    const lines = (await response.text()).split('\n').filter((line) => {
      const isNamed = line.startsWith(`${name}{`) || line.startsWith(`${name} `);
      return isNamed && Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`));
    });
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** Checks readiness once. If the service is not ready, throws an error with the health report. */
  protected async checkReady(): Promise<void> {
    const response = await fetch(`${this.adminUrl}/health/ready`);
    const report = await response.text();
    if (response.status !== 200) throw new Error(`${this.app} is not ready: ${report}`);
  }
}
