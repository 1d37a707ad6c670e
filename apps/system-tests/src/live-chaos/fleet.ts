import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../measure/progress.js';
import type { FleetCommand, FleetCounts, Judgement, StreamHistory } from './fleet-messages.js';
import type { ClientPlan } from './resuming-client.js';

// Judging a thousand clients takes seconds.
const answerLimitMs = 60_000;
// A thousand clients that come back behind pauses of up to four seconds each.
const connectLimitMs = 45_000;
const pollMs = 200;

/** Clients in a process of their own, in named groups. */
export class Fleet {
  private readonly waiting = new Map<number, (result: unknown) => void>();
  private readonly groups = new Set<string>();
  private lastId = 0;

  private constructor(private readonly child: ChildProcess) {
    child.on('message', ({ id, result }: { id: number; result: unknown }) => {
      this.waiting.get(id)?.(result);
      this.waiting.delete(id);
    });
  }

  static start(): Fleet {
    const module = fileURLToPath(new URL('client-fleet.js', import.meta.url));
    return new Fleet(fork(module, { serialization: 'advanced' }));
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('the clients could not be started');
    return this.child.pid;
  }

  /** Connects new clients. */
  async open(group: string, plans: readonly ClientPlan[]): Promise<void> {
    this.groups.add(group);
    await this.tell({ kind: 'open', group, plans });
  }

  /** They leave at once, and know where they were. */
  async close(group: string): Promise<void> {
    await this.tell({ kind: 'close', group });
  }

  /** They come back at once, without any jitter. */
  async reopen(group: string): Promise<void> {
    await this.tell({ kind: 'reopen', group });
  }

  async setReading(group: string, isReading: boolean): Promise<void> {
    await this.tell({ kind: 'read', group, isReading });
  }

  /** They leave, and are forgotten. */
  async drop(group: string): Promise<void> {
    this.groups.delete(group);
    await this.tell({ kind: 'drop', group });
  }

  async dropAll(): Promise<void> {
    for (const group of [...this.groups]) await this.drop(group);
  }

  /** What was counted since this was asked last. */
  async takeCounts(group: string): Promise<FleetCounts> {
    return (await this.tell({ kind: 'count', group })) as FleetCounts; // holds: the answer to this command
  }

  /** Compares everything that the clients of a group have seen with the stream. */
  async judge(group: string, history: StreamHistory): Promise<Judgement> {
    return (await this.tell({ kind: 'judge', group, history })) as Judgement; // holds: the answer to this command
  }

  /** Waits until all clients of a group are connected and know where they stand. */
  async waitUntilReady(group: string): Promise<void> {
    let last: FleetCounts | undefined;
    const isReady = await waitFor(
      async () => {
        last = await this.takeCounts(group);
        return last.connected === last.clients && last.positioned === last.clients ? true : undefined;
      },
      { limitMs: connectLimitMs, everyMs: pollMs },
    );
    if (isReady) return;
    throw new Error(`the clients are not ready after ${connectLimitMs / 1_000} s: ${JSON.stringify(last)}`);
  }

  /**
   * Waits until all clients of a group are connected, and nothing has come for some seconds.
   *
   * @returns what was counted meanwhile, and whether it became so in time
   */
  async settle(
    group: string,
    { limitMs = 60_000, quietMs = 3_000 } = {},
  ): Promise<{ isSettled: boolean; counts: FleetCounts[] }> {
    const counts: FleetCounts[] = [];
    let quietSince = performance.now();
    const isSettled = await waitFor(
      async () => {
        const now = await this.takeCounts(group);
        counts.push(now);
        if (now.received > 0 || now.connected < now.clients) quietSince = performance.now();
        return performance.now() - quietSince >= quietMs ? true : undefined;
      },
      { limitMs, everyMs: pollMs },
    );
    return { isSettled: isSettled === true, counts };
  }

  async stop(): Promise<void> {
    if (!this.child.connected) return;
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }

  private tell(command: FleetCommand): Promise<unknown> {
    const id = (this.lastId += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`the clients did not answer "${command.kind}" in time`)),
        answerLimitMs,
      );
      this.waiting.set(id, (result) => {
        clearTimeout(timer);
        resolve(result);
      });
      this.child.send({ id, command }, (error) => {
        if (!error) return;
        clearTimeout(timer);
        reject(error);
      });
    });
  }
}
