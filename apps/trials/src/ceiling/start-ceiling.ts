import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The raw ceiling as a process; see ceiling.ts. */
export interface Ceiling {
  pid: number;
  port: number;
  stop(): Promise<void>;
}

export async function startCeiling(databaseUrl: string, webhookSecret: string): Promise<Ceiling> {
  const child = fork(fileURLToPath(new URL('ceiling.js', import.meta.url)), [databaseUrl, webhookSecret]);
  const [port] = (await once(child, 'message')) as [number]; // holds: it says its port and nothing else
  if (child.pid === undefined) throw new Error('the raw ceiling could not be started');
  return {
    pid: child.pid,
    port,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
