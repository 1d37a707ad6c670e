import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A bare broadcast as a process; see bare-server.ts. */
export interface BareServer {
  pid: number;
  port: number;
  stop(): Promise<void>;
}

export async function startBareServer(natsUrl: string): Promise<BareServer> {
  const child = fork(fileURLToPath(new URL('bare-server.js', import.meta.url)), [natsUrl]);
  const [port] = (await once(child, 'message')) as [number]; // holds: it says its port and nothing else
  if (child.pid === undefined) throw new Error('the bare server could not be started');
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
