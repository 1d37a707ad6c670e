import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../measure/progress.js';
import type {
  CountingPlan,
  DeliveryCounts,
  FleetCommand,
  FleetCounts,
  FleetMessage,
  Judgement,
  StreamHistory,
} from './fleet-messages.js';
import type { ClientPlan } from './resuming-client.js';

// Comparing the deliveries to a thousand clients with the stream takes several seconds.
const answerLimitMs = 60_000;
// Clients pause for up to four seconds between attempts to reconnect. Ten thousand clients connect within a minute.
const connectLimitMs = 60_000;
const pollMs = 200;
// A caller that waits for progress also has to check regularly whether to stop.
const progressLimitMs = 100;

/** WebSocket clients in a separate process, in named groups: resuming clients, which log what they receive, and counting clients. */
export class Fleet {
  private readonly waiting = new Map<number, (result: unknown) => void>();
  private readonly groups = new Set<string>();
  private readonly slowest = new Map<string, number>();
  private onProgress: () => void = () => undefined;
  private lastId = 0;

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (message: FleetMessage) => {
      if ('group' in message) {
        this.slowest.set(message.group, message.slowest);
        this.onProgress();
        return;
      }
      this.waiting.get(message.id)?.(message.result);
      this.waiting.delete(message.id);
    });
  }

  static start(): Fleet {
    const module = fileURLToPath(new URL('client-process.js', import.meta.url));
    return new Fleet(fork(module, { serialization: 'advanced' }));
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('cannot start the client process');
    return this.child.pid;
  }

  /** Connects clients that resume and log what they receive. */
  async open(group: string, plans: readonly ClientPlan[]): Promise<void> {
    this.groups.add(group);
    await this.tell({ kind: 'open-resuming', group, plans });
  }

  /** Connects clients that only count. Resolves when all clients are connected. */
  async openCounting(group: string, plan: CountingPlan): Promise<void> {
    this.groups.add(group);
    await this.tell({ kind: 'open-counting', group, plan });
    const isConnected = async (): Promise<true | undefined> =>
      (await this.takeDeliveryCounts(group)).connected === plan.firstMessages.length ? true : undefined;
    if (!(await waitFor(isConnected, { limitMs: connectLimitMs, everyMs: pollMs })))
      throw new Error(`the clients are not connected after ${connectLimitMs / 1_000} s`);
    this.slowest.set(group, 0);
  }

  /** Returns the number of events that the slowest client of a counting group has received. */
  slowestOf(group: string): number {
    return this.slowest.get(group) ?? 0;
  }

  /** Resolves when the slowest client of a counting group has received another event, or after 100 ms. */
  async waitForProgress(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, progressLimitMs);
      this.onProgress = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Disconnects all clients immediately. They keep their positions. */
  async close(group: string): Promise<void> {
    await this.tell({ kind: 'close', group });
  }

  /** Reconnects all clients immediately, without jitter. */
  async reopen(group: string): Promise<void> {
    await this.tell({ kind: 'reopen', group });
  }

  async setReading(group: string, isReading: boolean): Promise<void> {
    await this.tell({ kind: 'set-reading', group, isReading });
  }

  /** Disconnects the clients and removes them. */
  async drop(group: string): Promise<void> {
    this.groups.delete(group);
    await this.tell({ kind: 'drop', group });
  }

  async dropAll(): Promise<void> {
    for (const group of [...this.groups]) await this.drop(group);
  }

  /** Returns the counts of a counting group since the last call. */
  async takeDeliveryCounts(group: string): Promise<DeliveryCounts> {
    return (await this.tell({ kind: 'count', group })) as DeliveryCounts; // Safe cast: the reply to this command
  }

  /** Returns the counts of a resuming group since the last call. */
  async takeCounts(group: string): Promise<FleetCounts> {
    return (await this.tell({ kind: 'count', group })) as FleetCounts; // Safe cast: the reply to this command
  }

  /** Compares everything that the clients of a group have received with the stream. */
  async judge(group: string, history: StreamHistory): Promise<Judgement> {
    return (await this.tell({ kind: 'judge', group, history })) as Judgement; // Safe cast: the reply to this command
  }

  /** Waits until all clients of a group are connected and have a position. */
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
   * Waits until all clients of a group are connected and have received nothing for `quietMs` milliseconds.
   *
   * @returns the counts during the wait, and whether the clients settled within the limit
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
        () =>
          reject(
            new Error(
              `the client process did not reply to "${command.kind}" within ${answerLimitMs / 1_000} s`,
            ),
          ),
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
