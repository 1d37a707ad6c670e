import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  estimateEventBytes,
  maxBatchBytes,
  maxBatchEvents,
  ServiceError,
  storeEvents,
  type NewEvent,
  type StoreEventsReply,
  type StoreOutcome,
} from '@stream-events/contracts';
import { ReplyTimeoutError, RequestClient } from '@stream-events/messaging';
import { CircuitBreaker, Gauge, LOGGER, Registry, type Logger } from '@stream-events/service';
import { BatchPacing } from './batch-pacing.js';

// Beyond this the service is slower than its input: refusing at once is kinder than keeping clients waiting. Bytes are
// estimated, three for a character: this is some 32 MiB of ordinary text.
const maxWaitingEvents = 4_096;
const maxWaitingBytes = 96 * 1024 * 1024;
// The platform and clients give up after a few seconds; by then they retry, and get the same event.
const maxAttempts = 2;
// A store that answers that it is away is asked once more: long enough for a lost connection to be made again, short
// enough for a 503 to be an answer "at once".
const unavailableRetryMs = 100;
// After a batch has failed, this long nothing is tried: a store that hangs must not hold up everybody for seconds.
const restMs = 1_000;

/** More arrives than can be stored, though it can be stored: what is refused now should come again later. */
export class IngestFullError extends ServiceError {
  constructor() {
    super('unavailable', 'More events arrive than can be stored. Try again soon.');
  }
}

interface WaitingEvent {
  event: NewEvent;
  bytes: number;
  resolve: (outcome: StoreOutcome) => void;
  reject: (error: unknown) => void;
}

/**
 * Joins events that arrive together into requests to the events service: while a batch is in flight, what arrives
 * gathers and is the next one, so a lone event does not wait and a flood makes full batches (see `BatchPacing`). While the
 * events service is not available it is degraded: what arrives is refused at once, but for one batch a second that tries.
 */
@Injectable()
export class EventIngest {
  private waiting: WaitingEvent[] = [];
  private waitingBytes = 0;
  private isPumpDue = false;
  private pumpTimer: NodeJS.Timeout | undefined;
  private readonly pacing = new BatchPacing({ now: () => performance.now() });
  private readonly circuit = new CircuitBreaker({ restMs: () => restMs, now: () => performance.now() });

  constructor(
    private readonly client: RequestClient,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    const measure = (): number => this.waiting.length;
    const { circuit } = this;
    new Gauge({
      name: 'gateway_ingest_degraded',
      help: '1 while the events service is not available and what arrives is refused or deferred at once, else 0',
      registers: [metrics],
      collect() {
        this.set(circuit.isClosed ? 0 : 1);
      },
    });
    new Gauge({
      name: 'gateway_ingest_waiting_events',
      help: 'Events that wait to be handed to the events service',
      registers: [metrics],
      collect() {
        this.set(measure());
      },
    });
  }

  /**
   * Hands an event to the events service; when this returns, it is on disk, known or parked.
   *
   * @throws IngestFullError when too many wait already
   * @throws ServiceError `unavailable` when it was not stored, or (after time-outs) when that is in doubt: the same
   * message or the same id again is the same event
   */
  async submit(event: NewEvent): Promise<StoreOutcome> {
    if (!this.circuit.permits) throw notAvailable();
    const bytes = estimateEventBytes(event);
    if (this.waiting.length >= maxWaitingEvents || this.waitingBytes + bytes > maxWaitingBytes) {
      throw new IngestFullError();
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ event, bytes, resolve, reject });
      this.waitingBytes += bytes;
      this.pumpSoon();
    });
  }

  /** What arrives in this turn of the event loop goes together, so that batches are fuller. */
  private pumpSoon(): void {
    if (this.isPumpDue) return;
    this.isPumpDue = true;
    setImmediate(() => {
      this.isPumpDue = false;
      this.pump();
    });
  }

  private pump(): void {
    while (this.waiting.length > 0 && this.circuit.permits) {
      const isFull = this.waiting.length >= maxBatchEvents || this.waitingBytes >= maxBatchBytes;
      const delayMs = this.pacing.delay({ count: this.waiting.length, isFull });
      if (delayMs > 0) {
        this.pumpAfter(delayMs);
        return;
      }
      const maxTries = this.circuit.isClosed ? maxAttempts : 1;
      const batch = this.takeBatch();
      this.pacing.begin();
      void this.deliver(batch, maxTries).finally(() => {
        this.pacing.end(batch.length);
        this.pump();
      });
    }
  }

  private pumpAfter(delayMs: number): void {
    clearTimeout(this.pumpTimer);
    // Until a batch is answered: that pumps by itself.
    if (delayMs !== Infinity) this.pumpTimer = setTimeout(() => this.pump(), delayMs);
  }

  private takeBatch(): WaitingEvent[] {
    let count = 0;
    let bytes = 0;
    for (const entry of this.waiting) {
      if (count === maxBatchEvents || (count > 0 && bytes + entry.bytes > maxBatchBytes)) break;
      count += 1;
      bytes += entry.bytes;
    }
    this.waitingBytes -= bytes;
    return this.waiting.splice(0, count);
  }

  private async deliver(batch: WaitingEvent[], maxTries: number): Promise<void> {
    const begunAt = this.circuit.begin();
    try {
      const events = batch.map((entry) => entry.event);
      const { outcomes } = await this.sendWithRetries(events, maxTries);
      this.circuit.succeed();
      batch.forEach((entry, index) => {
        const outcome = outcomes[index];
        if (outcome) entry.resolve(outcome);
        else entry.reject(new Error(`the events service said nothing about event ${entry.event.id}`));
      });
    } catch (error) {
      if (isUnavailable(error)) this.onUnavailable(begunAt);
      else this.circuit.succeed(); // it has answered
      for (const entry of batch) entry.reject(error);
    }
  }

  /** When no other batch got through either, what waits has nothing to wait for any more. */
  private onUnavailable(begunAt: number): void {
    this.circuit.fail(begunAt);
    if (this.circuit.isClosed) return;
    this.waitingBytes = 0;
    for (const entry of this.waiting.splice(0)) entry.reject(notAvailable());
  }

  /**
   * A batch without a reply is in doubt, and so is one whose store went away: sent again with the same ids, it is stored
   * once all the same.
   */
  private async sendWithRetries(events: NewEvent[], maxTries: number): Promise<StoreEventsReply> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        // Without a correlation id: a batch belongs to many requests, so to none of them in the logs.
        return await this.client.request(storeEvents, { events });
      } catch (error) {
        if (!isUnavailable(error) || attempt >= maxTries) throw error;
        this.logger.warn(
          { attempt, events: events.length, err: error },
          'batch not answered: it is sent again',
        );
        if (!(error instanceof ReplyTimeoutError)) await wait(unavailableRetryMs);
      }
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'unavailable';
}

function notAvailable(): ServiceError {
  return new ServiceError('unavailable', 'Events cannot be stored at the moment. Try again soon.');
}
