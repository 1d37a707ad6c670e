import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  estimateEventBytes,
  maxBatchBytes,
  maxBatchEvents,
  outcomesOf,
  readEventColumns,
  ServiceError,
  storeEventBatch,
  type EventWithColumns,
  type StoreOutcome,
} from '@stream-events/contracts';
import { ReplyTimeoutError, RequestClient, type EventTrace } from '@stream-events/messaging';
import { CircuitBreaker, LOGGER, Registry, type Logger, type SpanIds } from '@stream-events/service';
import { BatchPacing } from './batch-pacing.js';
import { IngestMetrics } from './ingest-metrics.js';
import { defaultCircuitRestMs, INGEST_OPTIONS, type IngestOptions } from './ingest-options.js';

// How many events, and how many bytes, may wait. Beyond these limits, reject new events immediately rather than let clients wait. The size
// estimate counts three bytes per character, so 96 MiB hold about 32 MiB of ordinary text.
const maxWaitingEvents = 4_096;
const maxWaitingBytes = 96 * 1024 * 1024;
// Maximum number of attempts to send a batch. A third attempt would be too late: platforms and clients give up after a few seconds and
// resend the event.
const maxAttempts = 2;
// Pause before the retry when the events service replies that it is unavailable. The events service can restore a lost connection in this
// time. If it does not, the client still gets a prompt 503.
const unavailableRetryMs = 100;

/** Thrown when events arrive faster than they can be stored. The event store itself works, so the sender should retry later. */
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
  /** The span of the HTTP request, if its trace is sampled. */
  parent: SpanIds | undefined;
  resolve: (outcome: StoreOutcome) => void;
  reject: (error: unknown) => void;
}

/** A batch, and the traces of its events. Only events in a sampled trace have an entry. */
interface TracedBatch {
  events: EventWithColumns[];
  eventTraces: readonly EventTrace[];
}

const noTraces: readonly EventTrace[] = [];

/**
 * Combines concurrent events into requests to the events service. Events that arrive while a batch is in flight form the next batch (see
 * `BatchPacing`). While the events service is unavailable, the circuit is open: one probe batch per second is sent, and all other events
 * are rejected immediately.
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
   * Sends an event to the events service. When this returns, the event is on disk: newly stored, already known, or kept as a dead letter.
   *
   * @param requestId the id of the HTTP request behind the event, for traces
   * @throws IngestFullError when too many events are already waiting
   * @throws ServiceError `unavailable` when the event was not stored or, after timeouts, may have been stored. The sender can safely send
   * the same message or id again: the event is stored only once. Another code when the events service fails unexpectedly
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

  /** Like `store`, but does not count the event. `PlatformIngest` counts platform events itself. */
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

  /** Calls `pump` after this event-loop turn, so that one batch can carry everything that arrives in the turn. */
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
    // Infinity needs no timer: pump() runs again when a batch ends.
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
      else this.circuit.succeed(); // an error reply also shows that the events service is reachable
      for (const entry of batch) entry.reject(error);
    } finally {
      this.metrics.noteBatch(batch.length, startedAt);
    }
  }

  /** Records the failure. If the circuit opens, also rejects the waiting events, because no batch would carry them. */
  private onUnavailable(begunAt: number): void {
    this.circuit.fail(begunAt);
    if (this.circuit.isClosed) return;
    this.waitingBytes = 0;
    for (const entry of this.waiting.splice(0)) entry.reject(storeUnavailable());
  }

  /**
   * Sends a batch, and retries when the events service is unavailable. After a timeout, it is unknown whether the batch was stored.
   * Retrying with the same ids is safe: each event is stored only once.
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

  private async send({ events, eventTraces }: TracedBatch): Promise<StoreOutcome[]> {
    // Send no correlation id: a batch combines the events of many HTTP requests.
    return outcomesOf(events, await this.client.request(storeEventBatch, { events }, { eventTraces }));
  }

  private tracesOf(batch: readonly WaitingEvent[]): readonly EventTrace[] {
    if (!this.client.tracing) return noTraces;
    return batch.flatMap(({ event: { id }, parent }) => (parent ? [{ id, parent }] : []));
  }
}

/**
 * Whether a platform message may be diverted to the INGEST stream after this error. Yes, when the store is unavailable or failed
 * unexpectedly (a rejected login, a damaged index). No, when the store is only overloaded: the sender should retry. An event that the
 * database rejects causes no error, because the store keeps the event as a dead letter.
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

/** Derives the columns now, because they count toward the size of the batch. */
function withColumns(event: EventWithColumns): EventWithColumns {
  return event.columns ? event : { ...event, columns: readEventColumns(event.eventType, event.eventData) };
}

function storeUnavailable(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The event store is unavailable. Retry after the time in `Retry-After`.',
  );
}
