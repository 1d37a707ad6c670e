import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  estimateEventBytes,
  maxBatchBytes,
  maxBatchEvents,
  readEventColumns,
  ServiceError,
  storeEventBatch,
  storeEvents,
  withoutColumns,
  type EventWithColumns,
  type StoreEventBatchReply,
  type StoreOutcome,
} from '@stream-events/contracts';
import { NoServiceError, ReplyTimeoutError, RequestClient, type EventTrace } from '@stream-events/messaging';
import { CircuitBreaker, LOGGER, Registry, type Logger, type SpanIds } from '@stream-events/service';
import { BatchPacing } from './batch-pacing.js';
import { IngestMetrics } from './ingest-metrics.js';
import { defaultCircuitRestMs, INGEST_OPTIONS, type IngestOptions } from './ingest-options.js';

// At these limits, the service cannot keep up: reject new events immediately rather than let clients wait. The estimated size of an event
// counts three bytes for each character, so 96 MiB are about 32 MiB of ordinary text.
const maxWaitingEvents = 4_096;
const maxWaitingBytes = 96 * 1024 * 1024;
// Two attempts are enough: after a few seconds, platforms and clients give up and send the same event again.
const maxAttempts = 2;
// When the events service replies that it is unavailable, retry after this time: long enough for the service to re-establish a
// lost connection, short enough for an immediate 503.
const unavailableRetryMs = 100;

/** Events arrive faster than they can be stored. The event store itself works, so the sender should retry later. */
export class IngestFullError extends ServiceError {
  constructor() {
    super(
      'unavailable',
      'Events arrive faster than they can be stored. Retry after the time in `Retry-After`.',
    );
  }
}

interface WaitingEvent {
  event: EventWithColumns;
  bytes: number;
  /** The span of the HTTP request, if it is part of a sampled trace. */
  parent: SpanIds | undefined;
  resolve: (outcome: StoreOutcome) => void;
  reject: (error: unknown) => void;
}

/** A batch, with the trace of each event that is part of a sampled trace. */
interface TracedBatch {
  events: EventWithColumns[];
  eventTraces: readonly EventTrace[];
}

const noTraces: readonly EventTrace[] = [];

/**
 * Combines concurrent events into requests to the events service. Events that arrive while a batch is in flight form the next
 * batch. A single event therefore does not wait, and a burst makes full batches (see `BatchPacing`). When the events service is
 * unavailable, the circuit opens: new events are rejected immediately, except for one probe batch per second.
 */
@Injectable()
export class EventIngest {
  private waiting: WaitingEvent[] = [];
  private waitingBytes = 0;
  private isPumpDue = false;
  private pumpTimer: NodeJS.Timeout | undefined;
  private readonly pacing = new BatchPacing({ now: () => performance.now() });
  private readonly circuit: CircuitBreaker;
  private readonly metrics: IngestMetrics;

  constructor(
    private readonly client: RequestClient,
    @Inject(LOGGER) private readonly logger: Logger,
    registry: Registry,
    @Inject(INGEST_OPTIONS) options: IngestOptions,
  ) {
    const { circuitRestMs = defaultCircuitRestMs } = options;
    this.circuit = new CircuitBreaker({ restMs: () => circuitRestMs, now: () => performance.now() });
    this.metrics = new IngestMetrics(registry, options);
    this.metrics.watch({
      isDegraded: () => !this.circuit.isClosed,
      countWaiting: () => this.waiting.length,
    });
  }

  /**
   * Sends an event to the events service. When this returns, the event is on disk: newly stored, already known, or kept as
   * a dead letter.
   *
   * @param requestId the id of the HTTP request behind the event, for traces
   * @throws IngestFullError when too many events are already waiting
   * @throws ServiceError `unavailable` when the event was not stored or, after timeouts, may have been stored. The sender can send the same
   * message or the same id again, because the event is stored only once
   */
  async store(received: EventWithColumns, requestId?: string): Promise<StoreOutcome> {
    try {
      const outcome = await this.storeUncounted(received, requestId);
      this.metrics.noteEvent('api', outcome.outcome);
      return outcome;
    } catch (error) {
      this.metrics.noteEvent('api', outcomeOf(error));
      throw error;
    }
  }

  /** Like `store`, for `PlatformIngest`, which itself counts the events of the platform. */
  async storeUncounted(received: EventWithColumns, requestId?: string): Promise<StoreOutcome> {
    if (!this.circuit.permits) throw storeUnavailable();
    const event = withColumns(received);
    const bytes = estimateEventBytes(event);
    if (this.waiting.length >= maxWaitingEvents || this.waitingBytes + bytes > maxWaitingBytes) {
      throw new IngestFullError();
    }
    const parent = this.client.tracing?.find(requestId);
    return new Promise((resolve, reject) => {
      this.waiting.push({ event, bytes, parent, resolve, reject });
      this.waitingBytes += bytes;
      this.pumpSoon();
    });
  }

  /** Collects everything that arrives in this event-loop turn into one batch. */
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
    // Infinity needs no timer: the end of a batch calls pump().
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
    const startedAt = performance.now();
    try {
      const events = batch.map((entry) => entry.event);
      const outcomes = await this.sendWithRetries({ events, eventTraces: this.tracesOf(batch) }, maxTries);
      this.circuit.succeed();
      batch.forEach((entry, index) => {
        const outcome = outcomes[index];
        if (outcome) entry.resolve(outcome);
        else entry.reject(new Error(`the events service returned no outcome for event ${entry.event.id}`));
      });
    } catch (error) {
      if (isUnavailable(error)) this.onUnavailable(begunAt);
      else this.circuit.succeed(); // the events service replied
      for (const entry of batch) entry.reject(error);
    } finally {
      this.metrics.noteBatch(batch.length, startedAt);
    }
  }

  /** Records the failure. If the failure opens the circuit, also rejects the waiting events, because no batch would be sent for them. */
  private onUnavailable(begunAt: number): void {
    this.circuit.fail(begunAt);
    if (this.circuit.isClosed) return;
    this.waitingBytes = 0;
    for (const entry of this.waiting.splice(0)) entry.reject(storeUnavailable());
  }

  /**
   * After a timeout or a lost connection, it is unknown whether the batch was stored. Retrying with the same ids is safe,
   * because each event is stored only once.
   */
  private async sendWithRetries(batch: TracedBatch, maxTries: number): Promise<StoreOutcome[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.send(batch);
      } catch (error) {
        if (!isUnavailable(error) || attempt >= maxTries) throw error;
        this.logger.warn(
          { attempt, events: batch.events.length, err: error },
          error instanceof ReplyTimeoutError
            ? 'ingest batch timed out, retrying'
            : 'ingest batch failed, retrying',
        );
        if (!(error instanceof ReplyTimeoutError)) await wait(unavailableRetryMs);
      }
    }
  }

  /** Sends a batch in the newest format that a running events service understands. */
  private async send({ events, eventTraces }: TracedBatch): Promise<StoreOutcome[]> {
    try {
      // Send no correlation id, because a batch belongs to many HTTP requests.
      return toOutcomes(events, await this.client.request(storeEventBatch, { events }, { eventTraces }));
    } catch (error) {
      if (!(error instanceof NoServiceError)) throw error;
    }
    const { outcomes } = await this.client.request(
      storeEvents,
      { events: events.map(withoutColumns) },
      { eventTraces },
    );
    return outcomes;
  }

  private tracesOf(batch: readonly WaitingEvent[]): readonly EventTrace[] {
    if (!this.client.tracing) return noTraces;
    return batch.flatMap(({ event: { id }, parent }) => (parent ? [{ id, parent }] : []));
  }
}

/**
 * Whether a platform message may be diverted to the INGEST stream after an error: the store is unavailable, or failed for an unexpected
 * reason, such as a rejected login or a damaged index. When only the content is at fault, the store replies with a dead letter instead.
 * Messages for an overloaded store are not diverted, because the store still works and the sender should retry.
 */
export function mayBeDeferred(error: unknown): boolean {
  if (error instanceof IngestFullError) return false;
  return isUnavailable(error) || (error instanceof ServiceError && error.code === 'internal');
}

/** Returns the value of the label `outcome` for an event that was not stored. */
export function outcomeOf(error: unknown): 'unavailable' | 'failed' {
  return isUnavailable(error) ? 'unavailable' : 'failed';
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'unavailable';
}

/** Derives the columns before the event waits, because the size of the columns counts toward the size of a batch. */
function withColumns(event: EventWithColumns): EventWithColumns {
  return event.columns ? event : { ...event, columns: readEventColumns(event.eventType, event.eventData) };
}

/** @throws ServiceError `internal` when the reply has another number of events than the batch */
function toOutcomes(
  events: readonly EventWithColumns[],
  { events: count, exceptions }: StoreEventBatchReply,
): StoreOutcome[] {
  if (count !== events.length)
    throw new ServiceError('internal', `The reply covers ${count} events instead of ${events.length}.`);
  const outcomes = events.map(({ id }): StoreOutcome => ({ id, outcome: 'stored' }));
  for (const { index, id, outcome } of exceptions) outcomes[index] = { id, outcome };
  return outcomes;
}

function storeUnavailable(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The event store is unavailable. Retry after the time in `Retry-After`.',
  );
}
