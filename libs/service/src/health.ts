/** Answers when a part works and throws when it does not; the error's message is shown to operators. */
export type HealthCheck = () => Promise<void>;

/** The state of a process's parts, as `/health/ready` prints it. */
export interface HealthReport {
  status: 'ok' | 'error';
  checks: Record<string, { status: 'ok' | 'error'; detail?: string }>;
}

// A part that has not answered within this time does not work, as far as a load balancer is concerned.
const checkTimeoutMs = 2_000;

/** Collects what must work for a process to be ready. In all-in-one the services share one. */
export class Health {
  private readonly checks = new Map<string, HealthCheck>();
  private isStopping = false;
  private running: Promise<HealthReport> | undefined;

  /** Adds a check; `name` is shown in the report. */
  register(name: string, check: HealthCheck): void {
    this.checks.set(name, check);
  }

  /** From now on the process is not ready, so that no new work is sent to it while it drains. */
  markStopping(): void {
    this.isStopping = true;
  }

  /** Runs every check side by side, each with a time limit; who asks meanwhile gets the same report. */
  async report(): Promise<HealthReport> {
    this.running ??= this.runChecks().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async runChecks(): Promise<HealthReport> {
    const checks: HealthReport['checks'] = {};
    await Promise.all(
      [...this.checks].map(async ([name, check]) => {
        checks[name] = await runCheck(check);
      }),
    );
    if (this.isStopping) checks.process = { status: 'error', detail: 'is shutting down' };
    const isOk = Object.values(checks).every((check) => check.status === 'ok');
    return { status: isOk ? 'ok' : 'error', checks };
  }
}

async function runCheck(check: HealthCheck): Promise<{ status: 'ok' | 'error'; detail?: string }> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${checkTimeoutMs} ms`)), checkTimeoutMs);
  });
  try {
    await Promise.race([check(), timeout]);
    return { status: 'ok' };
  } catch (error) {
    return { status: 'error', detail: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
