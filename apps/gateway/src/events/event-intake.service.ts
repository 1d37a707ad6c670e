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
import { Gauge, LOGGER, Registry, type Logger } from '@stream-events/service';

// More batches in flight only wait at the database; with three it is never idle.
const maxInFlight = 3;
// Beyond this the service is slower than its input: refusing at once is kinder than keeping clients waiting.
const maxWaitingEvents = 4_096;
const maxWaitingBytes = 32 * 1024 * 1024;
// The platform and clients give up after a few seconds; by then they retry, and get the same event.
const maxAttempts = 3;
// A store that answers that it is away is asked once more: long enough for a lost connection to be made again, short
// enough for a 503 to be an answer "at once".
const unavailableRetryMs = 100;

interface WaitingEvent {
  event: NewEvent;
  bytes: number;
  resolve: (outcome: StoreOutcome) => void;
  reject: (error: unknown) => void;
}

/**
 * Joins events that arrive together into requests to the events service. There is no timer: while batches are in flight,
 * what arrives gathers and is the next batch, so a lone event does not wait and a flood makes full batches.
 */
@Injectable()
export class EventIntake {
  private waiting: WaitingEvent[] = [];
  private waitingBytes = 0;
  private inFlight = 0;
  private isPumpDue = false;

  constructor(
    private readonly client: RequestClient,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    const measure = (): number => this.waiting.length;
    new Gauge({
      name: 'gateway_intake_waiting_events',
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
   * @throws ServiceError `unavailable` when it was not stored, or (after time-outs) when that is in doubt: the same
   * message or the same id again is the same event
   */
  async submit(event: NewEvent): Promise<StoreOutcome> {
    const bytes = estimateEventBytes(event);
    if (this.waiting.length >= maxWaitingEvents || this.waitingBytes + bytes > maxWaitingBytes) {
      throw new ServiceError('unavailable', 'More events arrive than can be stored. Try again soon.');
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
    while (this.inFlight < maxInFlight && this.waiting.length > 0) {
      const batch = this.takeBatch();
      this.inFlight += 1;
      void this.deliver(batch).finally(() => {
        this.inFlight -= 1;
        this.pump();
      });
    }
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

  private async deliver(batch: WaitingEvent[]): Promise<void> {
    try {
      const { outcomes } = await this.sendWithRetries(batch.map((entry) => entry.event));
      batch.forEach((entry, index) => {
        const outcome = outcomes[index];
        if (outcome) entry.resolve(outcome);
        else entry.reject(new Error(`the events service said nothing about event ${entry.event.id}`));
      });
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    }
  }

  /**
   * A batch without a reply is in doubt, and so is one whose store went away: sent again with the same ids, it is stored
   * once all the same.
   */
  private async sendWithRetries(events: NewEvent[]): Promise<StoreEventsReply> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        // Without a correlation id: a batch belongs to many requests, so to none of them in the logs.
        return await this.client.request(storeEvents, { events });
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'unavailable') throw error;
        const isTimeout = error instanceof ReplyTimeoutError;
        if (attempt >= (isTimeout ? maxAttempts : 2)) throw error;
        this.logger.warn(
          { attempt, events: events.length, err: error },
          'batch not answered: it is sent again',
        );
        if (!isTimeout) await wait(unavailableRetryMs);
      }
    }
  }
}
