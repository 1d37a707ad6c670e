import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceProcess } from '@stream-events/testing';
import { childrenOf } from '../measure/processes.js';
import type { Servers } from '../system/servers.js';
import type { System } from '../system/system.js';

export type TargetName = 'gateway' | 'events' | 'nats' | 'postgres';

/** One or more processes that a scenario can kill, stop, or freeze. */
export interface FaultTarget {
  /** Uses SIGKILL. */
  kill(): Promise<unknown>;
  /** Shuts down gracefully. */
  stop(): Promise<void>;
  /** Starts the target after `kill` or `stop`. Resolves when it is ready. */
  start(): Promise<void>;
  /** The main process first, because it could start more child processes. */
  pids(): number[];
}

/** A service has two instances as targets; a server is a single target. */
export function targetsOf(name: TargetName, servers: Servers, system: System): FaultTarget[] {
  switch (name) {
    case 'gateway':
    case 'events':
      return (name === 'gateway' ? system.gateways : system.events).map(toTarget);
    case 'nats':
    case 'postgres':
      return [
        {
          kill: () => servers[name].kill(),
          stop: () => servers[name].stop(),
          start: () => servers.restart(name),
          pids: () => [servers[name].pid, ...childrenOf(servers[name].pid)],
        },
      ];
  }
}

function toTarget(service: ServiceProcess): FaultTarget {
  return {
    kill: () => service.kill('SIGKILL'),
    stop: () => service.stop(),
    start: () => service.start(),
    pids: () => [service.pid],
  };
}

/** Suspends all processes of a target with SIGSTOP. */
export async function freeze(target: FaultTarget, ms: number): Promise<void> {
  const [first, ...others] = target.pids();
  if (first === undefined) return;
  signal(first, 'SIGSTOP');
  for (const pid of new Set([...others, ...target.pids()])) signal(pid, 'SIGSTOP');
  await wait(ms);
  for (const pid of target.pids().reverse()) signal(pid, 'SIGCONT');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // ESRCH: a child of PostgreSQL has already exited.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
