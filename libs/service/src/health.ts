/** Checks one part of a process. Throws when that part does not work; operators see the error message. */
export type HealthCheck = () => Promise<void>;

export interface HealthReport {
  status: 'ok' | 'error';
  checks: Record<string, { status: 'ok' | 'error'; detail?: string }>;
}

// How long a check may take. Load balancers usually wait only a few seconds for a reply.
const checkTimeoutMs = 2_000;

/** Collects the checks that decide whether a process is ready. In all-in-one, all services share one instance. */
export class Health {
  private readonly checks = new Map<string, HealthCheck>();
  private isStopping = false;
  private running: Promise<HealthReport> | undefined;

  /** @param name the name of the check in the report */
  register(name: string, check: HealthCheck): void {
    this.checks.set(name, check);
  }

  /** Makes the process report that it is not ready. Load balancers then send no new work while the process drains. */
  markStopping(): void {
    this.isStopping = true;
  }

  /** Runs all checks at once, each with a time limit of 2 s. Concurrent callers share one report. */
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
    timer = setTimeout(() => reject(new Error(`no response within ${checkTimeoutMs} ms`)), checkTimeoutMs);
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
