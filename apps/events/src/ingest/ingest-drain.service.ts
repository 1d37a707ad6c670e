import { Inject, Injectable } from '@nestjs/common';
import type { JsMsg } from '@nats-io/jetstream';
import { parseIngestMessage, type NewEvent } from '@stream-events/contracts';
import { isUnavailableError } from '@stream-events/database';
import { within } from '@stream-events/messaging';
import { Counter, Gauge, LOGGER, Registry, type Logger, pause } from '@stream-events/service';
import { DeadLettersRepository } from '../dead-letters/dead-letters.repository.js';
import { toRow } from '../store/write-batch.js';
import { IngestService } from './ingest.service.js';
import { IngestStream } from './ingest-stream.js';
import { wrapUnreadable } from './unreadable-message.js';

// Soon after a short failure, and not a burden to a database that is starting after a long one.
const minBackoffMs = 500;
const maxBackoffMs = 5_000;
// An outage of a quarter of a minute fails as often; after that, being careful costs little.
const maxSharedTries = 5;
// A batch takes milliseconds to store; when the database hangs, it is left to the next instance.
const stopLimitMs = 3_000;

/**
 * Brings the messages of the INGEST stream into the store, one batch at a time.
 *
 * ```
 *             ┌──── none for 1 s ────┐
 *             ▼                      │
 *          fetch ──── messages ──▶ store ──committed──▶ acknowledge ──▶ fetch
 *             ▲                      │ no event: parked, acknowledged
 *             │                      │ store or broker away
 *             └── 0.5 s, 1 s … 5 s ◀─┴──▶ handed back, for the same time
 * ```
 *
 * Idempotent by `receivedMessageKey`: a message that comes twice, or was stored although the gateway did not hear of it,
 * is one event.
 */
@Injectable()
export class IngestDrain {
  private readonly drainedTotal: Counter;
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private backoffMs = 0;

  constructor(
    private readonly stream: IngestStream,
    private readonly ingest: IngestService,
    private readonly repository: DeadLettersRepository,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.drainedTotal = new Counter({
      name: 'events_ingest_drained_total',
      help: 'Messages of the INGEST stream that are stored, known or parked',
      registers: [metrics],
    });
    new Gauge({
      name: 'events_ingest_stream_messages',
      help: 'Messages on the INGEST stream, accepted and not yet stored; for all instances together',
      registers: [metrics],
      async collect() {
        this.set(await stream.count().catch(() => Number.NaN));
      },
    });
  }

  /** Begins to drain. */
  start(): void {
    this.running = this.run();
  }

  /** Finishes the batch in hand (for 3 s at most) and stops; what is not acknowledged comes to another instance. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await within(stopLimitMs, this.running);
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        const messages = await this.stream.fetch(this.stopping.signal);
        if (messages.length > 0) await this.drain(messages);
        if (this.backoffMs > 0) this.logger.info('the INGEST stream is drained again');
        this.backoffMs = 0;
      } catch (error) {
        await this.backOff(error);
      }
    }
  }

  /** What has failed again and again is stored alone: should one message be the reason, the others get through. */
  private async drain(messages: readonly JsMsg[]): Promise<void> {
    const isStubborn = messages.some(({ info }) => info.deliveryCount > maxSharedTries);
    const batches = isStubborn ? messages.map((message) => [message]) : [messages];
    const failures: unknown[] = [];
    for (const batch of batches) {
      // With a store that is away, every further try would only take its time.
      if (failures.some(isUnavailableError)) this.handBack(batch);
      else await this.drainBatch(batch).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  private async drainBatch(messages: readonly JsMsg[]): Promise<void> {
    try {
      await this.store(messages);
    } catch (error) {
      this.handBack(messages);
      throw error;
    }
    // Only now: what is acknowledged is gone from the stream.
    for (const message of messages) message.ack();
    this.drainedTotal.inc(messages.length);
    this.logger.info({ messages: messages.length }, 'messages of the INGEST stream stored');
  }

  private handBack(messages: readonly JsMsg[]): void {
    for (const message of messages) message.nak(this.nextBackoffMs());
  }

  private async store(messages: readonly JsMsg[]): Promise<void> {
    const events: NewEvent[] = [];
    for (const { data } of messages) {
      const event = await this.readOrDeadLetter(data);
      if (event) events.push(event);
    }
    if (events.length > 0) await this.ingest.store(events);
  }

  private async readOrDeadLetter(payload: Uint8Array): Promise<NewEvent | undefined> {
    try {
      return parseIngestMessage(payload);
    } catch (error) {
      await this.repository.add(toRow(wrapUnreadable(payload)), error);
      return undefined;
    }
  }

  /** One line when it begins, not one for each try. */
  private async backOff(error: unknown): Promise<void> {
    if (this.stopping.signal.aborted) return;
    if (this.backoffMs === 0)
      this.logger.warn({ err: error }, 'the INGEST stream cannot be drained: it is tried again until it can');
    this.backoffMs = this.nextBackoffMs();
    await pause(this.backoffMs, this.stopping.signal);
  }

  private nextBackoffMs(): number {
    return Math.min(Math.max(2 * this.backoffMs, minBackoffMs), maxBackoffMs);
  }
}
