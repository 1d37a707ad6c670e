import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A comparison server in its own process. */
export interface ForkedServer {
  pid: number;
  port: number;
  stop(): Promise<void>;
}

// Time limit for startup. The server tries to reach its database or broker for 30 s.
const startLimitMs = 45_000;

/**
 * Forks a module. The module's first message is the port that it listens on.
 *
 * @throws Error if the process exits first, or does not listen in time
 */
export async function forkServer(module: URL, args: readonly string[]): Promise<ForkedServer> {
  const child = fork(fileURLToPath(module), args);
  const ended = once(child, 'exit');
  const failed = ended.then(([code]): never => {
    throw new Error(`${module.pathname} ended with code ${String(code)} before it listened`);
  });
  try {
    const listening = once(child, 'message', { signal: AbortSignal.timeout(startLimitMs) });
    const [port] = (await Promise.race([listening, failed])) as [number]; // Safe cast: the server sends its port and nothing else
    const { pid } = child;
    if (pid === undefined) throw new Error(`${module.pathname} did not start`);
    const stop = async (): Promise<void> => {
      child.kill('SIGTERM');
      await ended;
    };
    return { pid, port, stop };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}
