import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { toEventMessage } from '@stream-events/contracts';
import { StreamPublisher, StreamUnreachableError } from '@stream-events/messaging';
import {
  FailureLog,
  LOGGER,
  readForGauge,
  Registry,
  type Counter,
  type Histogram,
  type Logger,
} from '@stream-events/service';
import { oldestAgeSeconds } from './event-age.js';
import { includesLateEvent } from './late-events.js';
import { OutboxRepository, type AcknowledgedBatch, type OutboxBatch } from './outbox.repository.js';
import { RelayQueue, type QueuedBatch } from './relay-queue.js';
import { StreamWatch, type TrustedStream } from './stream-watch.service.js';
import { eventsMetrics } from '../metrics.js';

// Maximum number of batches sent but not acknowledged. More would only queue in the broker.
const maxInFlight = 4;
// Number of batches per claim. More would take more memory, up to 2 MiB per batch. Fewer would run out before the next claim returns.
const claimLimit = 8;
// Publishing pauses while this many acknowledged batches wait to be marked as published, so that they do not fill the memory.
const maxAcknowledged = 1_000;
const recoveryIntervalMs = 1_000;
// How often the relay marks batches as published, all in one statement. A statement per batch would cost a tenth as much as storing the
// batch, and its commit would delay the next batch. After a crash, unmarked batches are published again, and the stream's deduplication
// window drops the repeats.
const markIntervalMs = 200;
// After a database outage, recovery passes pause this long, so that each instance first marks the batches that it has published. Without
// the pause, another instance could publish them again, and after a long outage the stream would not recognize the repeats.
const outagePauseMs = 30_000;
const stopLimitMs = 5_000;
// Health fails when a batch has been claimable for this long. Any instance may claim a batch 10 s after it was written. Normally,
// one does so within the next second.
const overdueLimitSeconds = 60;

/**
 * Publishes stored events to the EVENTS stream, each at least once. The stream drops a repeat within its deduplication window. The stream
 * contains an event twice only if the repeat comes later, after a long outage or a loss of other events.
 *
 * ```
 * written batch ──▶ waiting ──▶ published ──all acknowledged──▶ moved from the outbox to published_batches
 *                      │              │                              │
 *            queue full, or           │ failed, crashed              │ the stream was in doubt since then,
 *            10 s in doubt            │                              │ or has lost the batch (see StreamCheck)
 *                      ▼              ▼                              ▼
 *                  outbox row, claimable after 10 s ──recovery pass of any instance──▶ waiting
 * ```
 */
@Injectable()
export class Relay {
  private readonly queue = new RelayQueue();
  /** Outbox ids of the batches that this instance is publishing, which it must not claim again. */
  private readonly held = new Set<string>();
  /** Batches that the stream has acknowledged but that are still in the outbox. */
  private readonly acknowledged = new Map<string, { trusted: TrustedStream } & AcknowledgedBatch>();
  private readonly publishedTotal: Counter;
  private readonly lag: Histogram;
  private readonly failedTotal: Counter;
  private readonly failureLog: FailureLog;
  private failures = 0;
  private isDatabaseAway = false;
  /** When recovery passes may claim again, by a monotonic clock. */
  private claimAfter = -Infinity;
  private inFlight = 0;
  private isMarking = false;
  private isStopped = false;
  private recoveryTimer: NodeJS.Timeout | undefined;
  private recovering: Promise<void> | undefined;
  private onRoom: (() => void) | undefined;

  constructor(
    private readonly outbox: OutboxRepository,
    private readonly publisher: StreamPublisher,
    private readonly watch: StreamWatch,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.failureLog = new FailureLog(logger);
    this.lag = eventsMetrics.events_publish_lag_seconds.create(metrics);
    eventsMetrics.events_relay_batches.create(metrics, (gauge) => {
      gauge.set({ state: 'waiting' }, this.queue.size);
      gauge.set({ state: 'in_flight' }, this.inFlight);
    });
    this.publishedTotal = eventsMetrics.events_published_total.create(metrics);
    this.failedTotal = eventsMetrics.events_publish_failures_total.create(metrics);
    measureOutbox(outbox, this.failureLog, metrics);
  }

  /** Publishes a committed batch in the background. If the queue is full, a recovery pass publishes the batch later. */
  publish(batch: OutboxBatch): void {
    if (this.isStopped) return;
    if (this.queue.addFresh(batch)) this.held.add(batch.outboxId);
    this.pump();
  }

  /** Starts the recovery passes. They publish outbox batches that this instance does not hold in memory and that nobody has claimed. */
  start(): void {
    this.recoveryTimer = setInterval(() => {
      void this.markPublished();
      this.recovering ??= this.recover().finally(() => {
        this.recovering = undefined;
      });
    }, recoveryIntervalMs);
  }

  /** Checks that stored events reach the stream. @throws Error when a batch in the outbox has been claimable for more than 60 s */
  async check(): Promise<void> {
    const { count, overdueSeconds } = await this.outbox.measure();
    if (overdueSeconds <= overdueLimitSeconds) return;
    throw new Error(
      `cannot publish to the EVENTS stream: ${count} batches wait in the outbox, and one has been due for ${Math.round(overdueSeconds)} s. The logs show the cause`,
    );
  }

  /** Publishes the waiting batches within 5 s, then stops. Batches that are left stay in the outbox. */
  async stop(): Promise<void> {
    clearInterval(this.recoveryTimer);
    this.isStopped = true;
    const deadline = performance.now() + stopLimitMs;
    const isBusy = (): boolean =>
      this.inFlight > 0 ||
      (this.queue.size > 0 && this.watch.trusted !== undefined) ||
      this.isMarking ||
      this.recovering !== undefined;
    while (isBusy() && performance.now() < deadline) await wait(10);
  }

  /** Publishes waiting batches while fewer than `maxInFlight` are in flight. Publishes nothing while the stream is in doubt. */
  private pump(): void {
    const { trusted } = this.watch;
    this.release(this.queue.dropExpired());
    while (trusted && this.inFlight < maxInFlight && this.acknowledged.size < maxAcknowledged) {
      const batch = this.queue.next();
      if (!batch) break;
      this.inFlight += 1;
      void this.deliver(batch, trusted);
    }
    if (this.queue.isBacklogLow || !trusted || this.isStopped) this.onRoom?.();
  }

  private async deliver(batch: QueuedBatch, trusted: TrustedStream): Promise<void> {
    const { outboxId, events } = batch;
    const sentAfter = this.watch.highestSequence;
    try {
      const lastSequence = await this.publisher.publish(events.map(toEventMessage));
      this.publishedTotal.inc(events.length);
      this.lag.observe(oldestAgeSeconds(events, Date.now()));
      const isLate = includesLateEvent(events, Date.now());
      this.acknowledged.set(outboxId, { trusted, outboxId, lastSequence, isLate });
      const eventIds = events.map((event) => event.id);
      this.watch.noteAcknowledged({ trusted, eventIds, lastSequence, sentAfter });
      void this.markPublished();
    } catch (error) {
      this.onFailed(batch, trusted, error);
    } finally {
      this.inFlight -= 1;
      this.pump();
    }
  }

  private onFailed(batch: QueuedBatch, trusted: TrustedStream, error: unknown): void {
    this.failures += 1;
    this.failedTotal.inc();
    this.failureLog.warn('cannot publish a batch to the EVENTS stream, retrying from the outbox', {
      err: error,
      outboxId: batch.outboxId,
    });
    if (error instanceof StreamUnreachableError) this.watch.suspect();
    // The stream failed, not the batch: publish the batch first once the stream is trusted again.
    if (this.watch.trusted !== trusted && !this.isStopped) this.queue.putBack(batch);
    else this.held.delete(batch.outboxId);
  }

  /** Marks all acknowledged batches as published, in one statement every 200 ms. */
  private async markPublished(): Promise<void> {
    if (this.isMarking) return;
    this.isMarking = true;
    try {
      while (this.acknowledged.size > 0) {
        await this.markOnce();
        this.pump();
        if (!this.isStopped) await wait(markIntervalMs);
      }
    } catch (error) {
      this.failureLog.warn('cannot mark outbox batches as published, retrying in 1 s', {
        err: error,
      });
    } finally {
      this.isMarking = false;
    }
  }

  /**
   * Tries once to mark the acknowledged batches as published. An acknowledgement counts only if the stream has been trusted without a break
   * since the batch was sent. After a break, the stream may have lost the batch, and another instance may have found the stream intact
   * before the database recorded the batch.
   */
  private async markOnce(): Promise<void> {
    const { trusted } = this.watch;
    const batches = [...this.acknowledged.values()];
    const doubtful = batches.filter((batch) => batch.trusted !== trusted);
    if (doubtful.length > 0) {
      await this.outbox.takeBack(doubtful.map((batch) => batch.outboxId));
      this.release(doubtful);
    }
    const certain = batches.filter((batch) => batch.trusted === trusted);
    if (!trusted || certain.length === 0) return;
    await this.outbox.retain(certain, trusted.epoch);
    // If the stream came into doubt during the update, keep the batches: the next call returns them to the outbox.
    if (this.watch.trusted === trusted) this.release(certain);
  }

  private release(batches: readonly { outboxId: string }[]): void {
    for (const { outboxId } of batches) {
      this.acknowledged.delete(outboxId);
      this.held.delete(outboxId);
    }
  }

  /** @throws while the database is unavailable */
  private async noteReturn(): Promise<void> {
    await this.outbox.measure();
    this.isDatabaseAway = false;
    this.claimAfter = performance.now() + outagePauseMs;
  }

  private mayClaim(failuresBefore: number): boolean {
    if (this.isStopped || !this.watch.trusted || this.failures !== failuresBefore) return false;
    return performance.now() >= this.claimAfter;
  }

  /** Runs one recovery pass: claims batches as fast as it can publish them, until none is claimable or publishing fails. */
  private async recover(): Promise<void> {
    let claimed = 0;
    let removed = 0;
    const failuresBefore = this.failures;
    try {
      if (this.isDatabaseAway) await this.noteReturn();
      while (this.mayClaim(failuresBefore)) {
        const batches = await this.outbox.claim(claimLimit, [...this.held]);
        claimed += batches.length;
        removed += batches.reduce((sum, batch) => sum + batch.removed, 0);
        for (const { outboxId } of batches) this.held.add(outboxId);
        this.queue.addClaimed(batches);
        await this.untilRoom();
        if (batches.length < claimLimit) break;
      }
    } catch (error) {
      this.isDatabaseAway = true;
      this.failureLog.warn('cannot read the outbox, retrying in 1 s', { err: error });
    }
    if (removed > 0)
      this.logger.warn(
        { events: removed },
        'outbox batches lack events that retention or an erasure has removed, publishing the rest',
      );
    if (claimed > 0) this.logger.info({ batches: claimed }, 'recovery pass claimed batches from the outbox');
  }

  /** Waits until few claimed batches are left in the queue, the stream is in doubt, or the relay stops. `pump` ends the wait. */
  private async untilRoom(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.onRoom = resolve;
      this.pump();
    });
    this.onRoom = undefined;
  }
}

function measureOutbox(outbox: OutboxRepository, failureLog: FailureLog, metrics: Registry): void {
  const batches = eventsMetrics.events_outbox_batches.create(metrics);
  // This gauge reads the outbox for both, because the instance's reports read only this gauge.
  eventsMetrics.events_outbox_overdue_seconds.create(metrics, async (gauge) => {
    const measured = await readForGauge(gauge, failureLog, () => outbox.measure());
    gauge.set(measured?.overdueSeconds ?? Number.NaN);
    batches.set(measured?.count ?? Number.NaN);
  });
}
