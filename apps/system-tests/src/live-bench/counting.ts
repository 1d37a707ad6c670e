import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CountingAnswer, CountingOptions, DeliveryCounts } from './counting-clients.js';

const answerLimitMs = 30_000;
// Whoever waits for progress also wants to see that it is to stop.
const progressLimitMs = 100;

/** A process of clients that count. */
export class Counting {
  /** How many events the slowest of the connected clients has got. */
  slowest = 0;
  private onAnswer: (answer: CountingAnswer) => void = () => undefined;
  private onProgress: () => void = () => undefined;

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (answer: CountingAnswer) => {
      if (answer.kind !== 'progress') {
        this.onAnswer(answer);
        return;
      }
      this.slowest = answer.slowest;
      this.onProgress();
    });
  }

  static start(): Counting {
    return new Counting(fork(fileURLToPath(new URL('counting-clients.js', import.meta.url))));
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('the clients could not be started');
    return this.child.pid;
  }

  /** Connects; done when all are connected. */
  async open(options: CountingOptions): Promise<void> {
    await this.ask(options);
    this.slowest = 0;
  }

  async close(): Promise<void> {
    await this.ask('close');
  }

  /** Done when the slowest client has got something more, or after a moment. */
  async waitForProgress(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, progressLimitMs);
      this.onProgress = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** What was counted since this was asked last. */
  async takeCounts(): Promise<DeliveryCounts> {
    const answer = await this.ask('count');
    if (answer.kind !== 'counts') throw new Error(`the clients answered "${answer.kind}" instead of counts`);
    return answer.counts;
  }

  async stop(): Promise<void> {
    if (!this.child.connected) return;
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }

  private ask(message: CountingOptions | 'count' | 'close'): Promise<CountingAnswer> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the clients did not answer in time')), answerLimitMs);
      this.onAnswer = (answer) => {
        clearTimeout(timer);
        resolve(answer);
      };
      this.child.send(message);
    });
  }
}
