import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceProcess } from '@stream-events/testing';
import { childrenOf } from '../measure/processes.js';
import type { Servers } from '../system/servers.js';
import type { System } from '../system/system.js';

export type TargetName = 'gateway' | 'events' | 'nats' | 'postgres';

/** One or more processes that a scenario can kill, stop, or freeze. */
export interface FaultTarget {
  /** Uses SIGKILL. */
  kill(): Promise<void>;
  /** Shuts down gracefully. */
  stop(): Promise<void>;
  /** Starts the target after `kill` or `stop`. Resolves when it is ready. */
  start(): Promise<void>;
  /** Suspends all processes with SIGSTOP for `ms` milliseconds. */
  freeze(ms: number): Promise<void>;
}

/** A service has two instances as targets; a server is a single target. */
export function targetsOf(name: TargetName, servers: Servers, system: System): FaultTarget[] {
  switch (name) {
    case 'gateway':
      return system.gateways.map(toServiceTarget);
    case 'events':
      return system.events.map(toServiceTarget);
    case 'nats':
      return [toServerTarget(servers.restartable.nats, () => [servers.nats.pid])];
    case 'postgres':
      // Suspend the main process first, because it could start more child processes.
      return [
        toServerTarget(servers.restartable.postgres, () => [
          servers.postgres.pid,
          ...childrenOf(servers.postgres.pid),
        ]),
      ];
  }
}

function toServiceTarget(process: ServiceProcess): FaultTarget {
  return {
    kill: async () => {
      await process.kill('SIGKILL');
    },
    stop: () => process.stop(),
    start: () => process.start(),
    freeze: (ms) => freeze(() => [process.pid], ms),
  };
}

function toServerTarget(server: Servers['restartable'][keyof Servers['restartable']], pids: () => number[]) {
  return {
    kill: () => server.kill(),
    stop: () => server.stop(),
    start: () => server.restart(),
    freeze: (ms: number) => freeze(pids, ms),
  };
}

async function freeze(pids: () => number[], ms: number): Promise<void> {
  const [first, ...others] = pids();
  if (first === undefined) return;
  signal(first, 'SIGSTOP');
  for (const pid of new Set([...others, ...pids()])) signal(pid, 'SIGSTOP');
  await wait(ms);
  for (const pid of pids().reverse()) signal(pid, 'SIGCONT');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // ESRCH: a child of PostgreSQL has already exited.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
