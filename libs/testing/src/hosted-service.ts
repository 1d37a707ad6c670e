import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from './eventually.js';
import { keepInWorker } from './keep-in-worker.js';
import { ServiceHost } from './service-host.js';
import { TestService, type Exit } from './test-service.js';

// Time limits for startup and shutdown, which take many seconds on a busy machine. Must stay below Jest's limit for hooks, so that the
// error from here appears instead of Jest's.
const startTimeoutMs = 50_000;
const stopTimeoutMs = 50_000;

/**
 * A service in the host process that all services of a Jest worker share. Uses the same code, configuration, and connections as a separate
 * process, but starts faster. Tests can stop and restart the service, but cannot kill it.
 */
export class HostedService extends TestService {
  private id: number | undefined;
  private outputStart = 0;

  get output(): string {
    return host().outputSince(this.outputStart);
  }

  get isRunning(): boolean {
    return this.id !== undefined;
  }

  async start(): Promise<void> {
    this.outputStart = host().outputLength;
    this.id = await host().start(this.app, this.environment);
    await eventually(() => this.checkReady(), { timeoutMs: startTimeoutMs });
  }

  async stop(): Promise<void> {
    const { id } = this;
    this.id = undefined;
    if (id === undefined) return;
    const timeout = new AbortController();
    const tooLate = wait(stopTimeoutMs, 'too late', { signal: timeout.signal });
    const outcome = await Promise.race([host().stop(id), tooLate]);
    timeout.abort();
    if (outcome === 'too late') throw new Error(`${this.app} did not stop within ${stopTimeoutMs} ms`);
  }

  async kill(signal: NodeJS.Signals): Promise<Exit> {
    if (signal !== 'SIGTERM')
      throw new Error(`${this.app} shares a process: start the stack with \`processes: 'own'\` to kill it`);
    await this.stop();
    return { code: 0, signal: null };
  }
}

function host(): ServiceHost {
  return keepInWorker('service host', () => new ServiceHost());
}
