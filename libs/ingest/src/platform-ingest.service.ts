import { Inject, Injectable } from '@nestjs/common';
import { ServiceError, type EventWithColumns, type StoreOutcome } from '@stream-events/contracts';
import { LOGGER, Registry, type Logger } from '@stream-events/service';
import { EventIngest, mayBeDeferred, outcomeOf } from './event-ingest.service.js';
import { IngestMetrics, type IngestTransport } from './ingest-metrics.js';
import { INGEST_OPTIONS, type IngestOptions } from './ingest-options.js';
import { IngestPublisher } from './ingest-publisher.js';

export type PlatformIngestOutcome = StoreOutcome['outcome'] | 'deferred';

/**
 * A period in which the event store did not accept some or all messages. Counts the messages that were diverted to INGEST (`deferred`) and
 * the messages that were rejected (`rejected`).
 */
interface Outage {
  deferred: number;
  rejected: number;
  /** When the last message failed, from a monotonic clock, in milliseconds. */
  failedAt: number;
}

const settledMs = 10_000;
// How long the metric shows an outage after the last failure. Without new messages, the service cannot notice the end of an outage.
const shownMs = 5 * 60_000;

/**
 * Stores platform messages. While the event store is unavailable or fails, and the fallback is on, publishes them to the INGEST stream; the
 * events service stores them later. Each outage logs a warning, because a message on INGEST survives a process crash but not a power
 * failure.
 *
 * ```
 *          store unavailable          event stored, 10 s after the last failure
 *  normal ───────────────────▶ outage, one warning ─────▶ normal, one warning with the counts
 *                                │         │
 *                        deferred to INGEST  INGEST full, missing, or NATS unavailable: rejected, one warning
 * ```
 */
@Injectable()
export class PlatformIngest {
  private outage: Outage | undefined;
  private readonly metrics: IngestMetrics;

  constructor(
    private readonly ingest: EventIngest,
    private readonly publisher: IngestPublisher,
    @Inject(LOGGER) private readonly logger: Logger,
    registry: Registry,
    @Inject(INGEST_OPTIONS) private readonly options: IngestOptions,
  ) {
    this.metrics = new IngestMetrics(registry, options);
    this.metrics.watchFallback(
      () => this.outage !== undefined && performance.now() < this.outage.failedAt + shownMs,
    );
  }

  /**
   * Stores an event. When the event store is unavailable or fails, publishes the event to INGEST if the fallback is on. After a timeout,
   * the event can be both in the event store and on INGEST. The two copies have the same id and key, so the event is stored only once.
   *
   * @param requestId the id of the HTTP request behind the event, for traces
   * @throws ServiceError `unavailable` when neither the event store nor INGEST accepted the event. IngestFullError when too many events are
   * already waiting
   */
  async store(
    event: EventWithColumns,
    transport: IngestTransport,
    requestId?: string,
  ): Promise<PlatformIngestOutcome> {
    try {
      const outcome = await this.storeOrDefer(event, requestId);
      this.metrics.noteEvent(transport, outcome);
      return outcome;
    } catch (error) {
      this.metrics.noteEvent(transport, outcomeOf(error));
      throw error;
    }
  }

  private async storeOrDefer(
    event: EventWithColumns,
    requestId: string | undefined,
  ): Promise<PlatformIngestOutcome> {
    try {
      const { outcome } = await this.ingest.storeUncounted(event, requestId);
      this.endOutage();
      return outcome;
    } catch (error) {
      if (!mayBeDeferred(error)) throw error;
      if (this.options.hasFallback && (await this.defer(event, error))) return 'deferred';
      throw toUnavailable(error);
    }
  }

  private async defer(event: EventWithColumns, cause: unknown): Promise<boolean> {
    const outage = (this.outage ??= this.beginOutage(cause));
    outage.failedAt = performance.now();
    try {
      await this.publisher.publish(event);
      outage.deferred += 1;
      return true;
    } catch (error) {
      outage.rejected += 1;
      if (outage.rejected === 1)
        this.logger.warn(
          { err: error },
          'cannot publish to the INGEST stream, platform messages are not stored',
        );
      return false;
    }
  }

  private beginOutage(cause: unknown): Outage {
    this.logger.warn(
      { err: cause },
      'event store unavailable, diverting platform messages to the INGEST stream',
    );
    return { deferred: 0, rejected: 0, failedAt: performance.now() };
  }

  /** Ends the outage after 10 s without a failure, because some faults affect only some messages. */
  private endOutage(): void {
    if (!this.outage || performance.now() < this.outage.failedAt + settledMs) return;
    const { deferred, rejected } = this.outage;
    this.logger.warn({ deferred, rejected }, 'event store available again, storing platform messages');
    this.outage = undefined;
  }
}

/** Reports the failure as `unavailable`, so that the sender retries. */
function toUnavailable(error: unknown): unknown {
  if (error instanceof ServiceError && error.code === 'unavailable') return error;
  return new ServiceError(
    'unavailable',
    'The event cannot be stored now. Retry after the time in `Retry-After`.',
    { cause: error },
  );
}
