import { fork, type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import type { AppName } from './test-service.js';

/** Asks the host process to start a service, or to stop the service that request `startedBy` started. */
export type HostRequest =
  | { id: number; action: 'start'; app: AppName; environment: Readonly<Record<string, string>> }
  | { id: number; action: 'stop'; startedBy: number };

/** Reply to the request with the same id. `error` is the stack trace if the request failed. */
export interface HostReply {
  id: number;
  error?: string;
}

/**
 * Runs a Jest worker's services in one child process. Loading and compiling modules takes most of a service's startup; here Node does it
 * once per worker.
 */
export class ServiceHost {
  private child: ChildProcess | undefined;
  private readonly pending = new Map<number, (error: Error | undefined) => void>();
  private lastId = 0;
  private written = '';

  /** Number of characters that the host process has written so far. */
  get outputLength(): number {
    return this.written.length;
  }

  /** The output after the first `length` characters. */
  outputSince(length: number): string {
    return this.written.slice(length);
  }

  /** Starts a service and returns the id that `stop` needs. */
  async start(app: AppName, environment: Readonly<Record<string, string>>): Promise<number> {
    const id = this.nextId();
    await this.send({ id, action: 'start', app, environment });
    return id;
  }

  /** @param startedBy the id that `start` returned */
  async stop(startedBy: number): Promise<void> {
    await this.send({ id: this.nextId(), action: 'stop', startedBy });
  }

  private nextId(): number {
    this.lastId += 1;
    return this.lastId;
  }

  private send(request: HostRequest): Promise<void> {
    this.child ??= this.spawn();
    const { child } = this;
    return new Promise((done, reject) => {
      this.pending.set(request.id, (error) => (error ? reject(error) : done()));
      child.send(request);
    });
  }

  private spawn(): ChildProcess {
    const main = resolve('libs/testing/dist/service-host.main.js'); // plain Node runs it, so the source will not do
    const child = fork(main, { env: { PATH: process.env.PATH }, execArgv: [], silent: true });
    const note = (chunk: Buffer): void => void (this.written += chunk.toString());
    child.stdout?.on('data', note);
    child.stderr?.on('data', note);
    child.on('message', (reply: HostReply) => {
      const settle = this.pending.get(reply.id);
      this.pending.delete(reply.id);
      settle?.(reply.error === undefined ? undefined : new Error(reply.error));
    });
    child.on('exit', (code, signal) => {
      if (this.child === child) this.child = undefined;
      const error = new Error(
        `the service host ended with ${code ?? signal}:\n${this.written.slice(-4_000)}`,
      );
      for (const settle of this.pending.values()) settle(error);
      this.pending.clear();
    });
    // Do not keep the worker alive: Jest ends it when the tests are done, and the host process ends with it.
    child.unref();
    child.channel?.unref();
    for (const stream of [child.stdout, child.stderr])
      (stream as unknown as { unref(): void } | null)?.unref(); // Safe cast: pipes are sockets.
    return child;
  }
}
