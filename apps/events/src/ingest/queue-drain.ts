import type { JsMsg } from '@nats-io/jetstream';
import { isUnavailableError } from '@stream-events/database';
import { within } from '@stream-events/messaging';
import { pause, type Logger } from '@stream-events/service';
import type { EventWriter } from './event-writer.service.js';
import type { WorkQueue } from './work-queue.js';

// Retry soon after a short failure, but do not burden a database that is starting after a long one.
const minBackoffMs = 500;
const maxBackoffMs = 5_000;
// An outage of 15 s causes as many deliveries. After that, storing one by one costs little.
const maxSharedTries = 5;
// A batch takes milliseconds to store. When the database hangs, another instance stores the batch.
const stopLimitMs = 3_000;

/**
 * Stores the messages of a work queue, one batch at a time.
 *
 * ```
 *             ┌──── none for 1 s ────┐
 *             ▼                      │
 *          fetch ──── messages ──▶ store ──committed──▶ acknowledge ──▶ fetch
 *             ▲                      │ unreadable: kept as a dead letter, acknowledged
 *             │                      │ store or broker unavailable
 *             └── 0.5 s, 1 s … 5 s ◀─┴──▶ negatively acknowledged, with the same delay
 * ```
 *
 * Idempotent by `receivedMessageKey`: a message that is delivered twice, or that was stored although the gateway got no
 * reply, becomes one event.
 */
export class QueueDrain {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private backoffMs = 0;

  constructor(
    private readonly queue: WorkQueue,
    private readonly writer: EventWriter,
    private readonly logger: Logger,
    private readonly onDrained: (messages: number) => void,
  ) {}

  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await within(stopLimitMs, this.running);
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        const messages = await this.queue.fetch(this.stopping.signal);
        if (messages.length > 0) await this.drain(messages);
        if (this.backoffMs > 0) this.logger.info({ stream: this.queue.name }, 'draining the stream again');
        this.backoffMs = 0;
      } catch (error) {
        await this.backOff(error);
      }
    }
  }

  /** Stores a batch. Messages that failed several times are stored one by one, so that one bad message blocks no other. */
  private async drain(messages: readonly JsMsg[]): Promise<void> {
    const isStubborn = messages.some(({ info }) => info.deliveryCount > maxSharedTries);
    const batches = isStubborn ? messages.map((message) => [message]) : [messages];
    const failures: unknown[] = [];
    for (const batch of batches) {
      // While the store is unavailable, each further try would only wait for its time limit.
      if (failures.some(isUnavailableError)) this.handBack(batch);
      else await this.drainBatch(batch).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  private async drainBatch(messages: readonly JsMsg[]): Promise<void> {
    try {
      await this.writer.storeMessages(messages.map(({ data }) => data));
    } catch (error) {
      this.handBack(messages);
      throw error;
    }
    // After the commit: the stream deletes an acknowledged message.
    for (const message of messages) message.ack();
    this.onDrained(messages.length);
    this.logger.info({ stream: this.queue.name, messages: messages.length }, 'stored messages of the stream');
  }

  private handBack(messages: readonly JsMsg[]): void {
    for (const message of messages) message.nak(this.nextBackoffMs());
  }

  /** Logs the first failure of an outage only. */
  private async backOff(error: unknown): Promise<void> {
    if (this.stopping.signal.aborted) return;
    if (this.backoffMs === 0) {
      const fields = { err: error, stream: this.queue.name };
      this.logger.warn(fields, 'cannot drain the stream, retrying until it works');
    }
    this.backoffMs = this.nextBackoffMs();
    await pause(this.backoffMs, this.stopping.signal);
  }

  private nextBackoffMs(): number {
    return Math.min(Math.max(2 * this.backoffMs, minBackoffMs), maxBackoffMs);
  }
}
