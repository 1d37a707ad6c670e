import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../measure/progress.js';
import type {
  CountingPlan,
  DeliveryCounts,
  FleetCall,
  FleetCounts,
  FleetMessage,
  Judgement,
  StreamHistory,
} from './fleet-messages.js';
import type { ClientPlan } from './resuming-client.js';

// Time limit for a reply. Checking the deliveries of a thousand clients takes several seconds.
const answerLimitMs = 60_000;
// Time limit for connecting. Ten thousand clients need up to a minute, and a client pauses up to 4 s between two attempts.
const connectLimitMs = 60_000;
const pollMs = 200;
// `waitForProgress` returns at least this often, so that its caller can check whether to stop.
const progressLimitMs = 100;

/** WebSocket clients in a separate process, in named groups. Resuming clients log what they receive; counting clients only count. */
export class Fleet {
  private readonly waiting = new Map<number, (result: unknown) => void>();
  private readonly kinds = new Map<string, FleetCall['kind']>();
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
    this.kinds.set(group, 'resuming');
    await this.call(group, 'open', plans);
  }

  /** Connects clients that only count. Resolves when all are connected. */
  async openCounting(group: string, plan: CountingPlan): Promise<void> {
    this.kinds.set(group, 'counting');
    await this.call(group, 'open', plan);
    const isConnected = async (): Promise<true | undefined> =>
      (await this.takeDeliveryCounts(group)).connected === plan.firstMessages.length ? true : undefined;
    if (!(await waitFor(isConnected, { limitMs: connectLimitMs, everyMs: pollMs })))
      throw new Error(`the clients are not connected after ${connectLimitMs / 1_000} s`);
    this.slowest.set(group, 0);
  }

  /** Number of events that the group's slowest client has received. */
  slowestOf(group: string): number {
    return this.slowest.get(group) ?? 0;
  }

  /** Resolves when a counting group's slowest client gets another event, or after 100 ms. */
  async waitForProgress(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, progressLimitMs);
      this.onProgress = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async setReading(group: string, isReading: boolean): Promise<void> {
    await this.call(group, 'setReading', isReading);
  }

  /** Disconnects and removes the clients. */
  async drop(group: string): Promise<void> {
    await this.call(group, 'close');
    this.kinds.delete(group);
  }

  async dropAll(): Promise<void> {
    for (const group of [...this.kinds.keys()]) await this.drop(group);
  }

  /** Counts since the last call. */
  takeDeliveryCounts(group: string): Promise<DeliveryCounts> {
    return this.call(group, 'takeCounts');
  }

  /** Counts of a resuming group since the last call. */
  takeCounts(group: string): Promise<FleetCounts> {
    return this.call(group, 'takeCounts');
  }

  /** Checks everything that the group's clients have received against the stream. */
  judge(group: string, history: StreamHistory): Promise<Judgement> {
    return this.call(group, 'judge', history);
  }

  /** Resolves when all clients are connected and have a position. */
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
   * Waits until all clients are connected and have received nothing for `quietMs` milliseconds.
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

  /** Calls a method of a group in the process. */
  private async call<Result>(group: string, method: string, ...args: readonly unknown[]): Promise<Result> {
    const id = (this.lastId += 1);
    const call: FleetCall = { id, group, kind: this.kinds.get(group) ?? 'resuming', method, args };
    const reply = new Promise<unknown>((resolve, reject) => {
      const late = `the client process did not reply to "${method}" within ${answerLimitMs / 1_000} s`;
      const timer = setTimeout(() => reject(new Error(late)), answerLimitMs);
      this.waiting.set(id, (result) => {
        clearTimeout(timer);
        resolve(result);
      });
      this.child.send(call, (error) => {
        if (!error) return;
        clearTimeout(timer);
        reject(error);
      });
    });
    return (await reply) as Result; // Safe cast: the result of this method
  }
}
