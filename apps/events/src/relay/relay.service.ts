import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { toEventMessage } from '@stream-events/contracts';
import { StreamFilesGoneError, StreamPublisher, StreamUnreachableError } from '@stream-events/messaging';
import { Counter, FailureLog, Gauge, LOGGER, Registry, type Logger } from '@stream-events/service';
import { OutboxRepository, type AcknowledgedBatch, type OutboxBatch } from './outbox.repository.js';
import { RelayQueue, type QueuedBatch } from './relay-queue.js';
import { StreamWatch, type Standing } from './stream-watch.service.js';

// More batches in flight than this only wait inside the broker.
const maxInFlight = 4;
// Few: up to 1 MiB of events each is read into memory; enough to publish while the next ones are read.
const claimLimit = 8;
// A database that does not strike off must not fill the memory: then nothing more is published.
const maxAcknowledged = 1_000;
const sweepIntervalMs = 1_000;
// A statement for every batch would cost as much as a tenth of storing it. A crash in between only publishes again what
// the stream still remembers.
const strikeOffIntervalMs = 50;
const stopLimitMs = 5_000;
// A batch is free to take 10 s after it was written, and taken within a second: this late, publishing does not work.
const overdueLimitSeconds = 60;

/**
 * Brings stored events to the EVENTS stream: at least once each, and twice only after a crash that outlasts the
 * stream's de-duplication window, or when it is not certain that the stream has kept them.
 *
 * ```
 * written batch ──▶ waiting ──▶ published ──all acknowledged──▶ moved from the outbox to the published batches
 *                      │              │                              │
 *            too many, or             │ failed, crashed              │ the stream was in doubt meanwhile,
 *            10 s in doubt            │                              │ or lost it (see StreamCheck)
 *                      ▼              ▼                              ▼
 *                  outbox row, free to take after 10 s ──sweep of any instance──▶ waiting
 * ```
 */
@Injectable()
export class Relay {
  private readonly queue = new RelayQueue();
  /** Batches that this instance has in its hands: not to be claimed again. */
  private readonly held = new Set<string>();
  /** On the stream, but perhaps still in the outbox. */
  private readonly acknowledged = new Map<string, { standing: Standing } & AcknowledgedBatch>();
  private readonly publishedTotal: Counter;
  private readonly failedTotal: Counter;
  private readonly failureLog: FailureLog;
  private failures = 0;
  private inFlight = 0;
  private isStrikingOff = false;
  private isStopped = false;
  private sweepTimer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> | undefined;
  private onRoom: (() => void) | undefined;

  constructor(
    private readonly outbox: OutboxRepository,
    private readonly publisher: StreamPublisher,
    private readonly watch: StreamWatch,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.failureLog = new FailureLog(logger);
    this.publishedTotal = new Counter({
      name: 'events_published_total',
      help: 'Events that the EVENTS stream has acknowledged',
      registers: [metrics],
    });
    this.failedTotal = new Counter({
      name: 'events_publish_failures_total',
      help: 'Batches that could not be published and stay in the outbox',
      registers: [metrics],
    });
    measureOutbox(outbox, metrics);
  }

  /** Publishes a batch that was just committed; returns at once. */
  publish(batch: OutboxBatch): void {
    if (this.isStopped) return;
    if (this.queue.addFresh(batch)) this.held.add(batch.outboxId);
    this.pump();
  }

  /** Begins to take over what other instances, or earlier runs, left in the outbox. */
  start(): void {
    this.sweepTimer = setInterval(() => {
      void this.strikeOff();
      this.sweeping ??= this.sweep().finally(() => {
        this.sweeping = undefined;
      });
    }, sweepIntervalMs);
  }

  /** @throws when stored events do not get to the stream */
  async check(): Promise<void> {
    const { count, overdueSeconds } = await this.outbox.measure();
    if (overdueSeconds <= overdueLimitSeconds) return;
    throw new Error(
      `${count} stored batches wait for the EVENTS stream, the oldest for ${Math.round(overdueSeconds)} s: see the logs`,
    );
  }

  /** Publishes what waits (for 5 s at most) and stops; what is left is in the outbox. */
  async stop(): Promise<void> {
    clearInterval(this.sweepTimer);
    this.isStopped = true;
    const deadline = performance.now() + stopLimitMs;
    const isBusy = (): boolean =>
      this.inFlight > 0 ||
      (this.queue.size > 0 && this.watch.standing !== undefined) ||
      this.isStrikingOff ||
      this.sweeping !== undefined;
    while (isBusy() && performance.now() < deadline) await wait(10);
  }

  /** Publishes as much as may be at once: while the stream is in doubt, nothing. */
  private pump(): void {
    const { standing } = this.watch;
    this.release(this.queue.dropExpired());
    while (standing && this.inFlight < maxInFlight && this.acknowledged.size < maxAcknowledged) {
      const batch = this.queue.next();
      if (!batch) break;
      this.inFlight += 1;
      void this.deliver(batch, standing);
    }
    if (this.queue.isBacklogLow || !standing || this.isStopped) this.onRoom?.();
  }

  private async deliver(batch: QueuedBatch, standing: Standing): Promise<void> {
    const { outboxId, events } = batch;
    const sentAfter = this.watch.highestSequence;
    try {
      const lastSequence = await this.publisher.publish(events.map(toEventMessage));
      this.publishedTotal.inc(events.length);
      this.acknowledged.set(outboxId, { standing, outboxId, lastSequence });
      const eventIds = events.map((event) => event.id);
      this.watch.noteAcknowledged({ standing, eventIds, lastSequence, sentAfter });
      void this.strikeOff();
    } catch (error) {
      this.onFailed(batch, standing, error);
    } finally {
      this.inFlight -= 1;
      this.pump();
    }
  }

  private onFailed(batch: QueuedBatch, standing: Standing, error: unknown): void {
    this.failures += 1;
    this.failedTotal.inc();
    this.failureLog.warn('batches not published: they stay in the outbox and are tried again', {
      err: error,
      outboxId: batch.outboxId,
    });
    if (error instanceof StreamUnreachableError) this.watch.suspect();
    if (error instanceof StreamFilesGoneError) this.watch.condemn(standing);
    // The stream's fault, not the batch's: it goes first when the stream is trusted again.
    if (this.watch.standing !== standing && !this.isStopped) this.queue.putBack(batch);
    else this.held.delete(batch.outboxId);
  }

  /** Strikes off everything acknowledged so far in one statement; what comes in the next moment is the next one. */
  private async strikeOff(): Promise<void> {
    if (this.isStrikingOff) return;
    this.isStrikingOff = true;
    try {
      while (this.acknowledged.size > 0) {
        await this.strikeOffOnce();
        this.pump();
        if (!this.isStopped) await wait(strikeOffIntervalMs);
      }
    } catch (error) {
      this.failureLog.warn('published batches could not be struck off the outbox: tried again in a second', {
        err: error,
      });
    } finally {
      this.isStrikingOff = false;
    }
  }

  /**
   * An acknowledgement counts while the stream has not come into doubt since the batch was sent: an instance that was
   * quicker may have found the stream intact, before it could see in the database what the stream had lost of ours.
   */
  private async strikeOffOnce(): Promise<void> {
    const { standing } = this.watch;
    const batches = [...this.acknowledged.values()];
    const doubtful = batches.filter((batch) => batch.standing !== standing);
    if (doubtful.length > 0) {
      await this.outbox.takeBack(doubtful.map((batch) => batch.outboxId));
      this.release(doubtful);
    }
    const certain = batches.filter((batch) => batch.standing === standing);
    if (!standing || certain.length === 0) return;
    await this.outbox.retain(certain, standing.epoch);
    // Else the next turn takes them back.
    if (this.watch.standing === standing) this.release(certain);
  }

  private release(batches: readonly { outboxId: string }[]): void {
    for (const { outboxId } of batches) {
      this.acknowledged.delete(outboxId);
      this.held.delete(outboxId);
    }
  }

  /** Takes over what is free to take, as fast as it can be published, until there is no more or publishing fails. */
  private async sweep(): Promise<void> {
    let taken = 0;
    const failuresBefore = this.failures;
    try {
      while (!this.isStopped && this.watch.standing && this.failures === failuresBefore) {
        const batches = await this.outbox.claim(claimLimit, [...this.held]);
        taken += batches.length;
        for (const { outboxId } of batches) this.held.add(outboxId);
        this.queue.addClaimed(batches);
        await this.untilRoom();
        if (batches.length < claimLimit) break;
      }
    } catch (error) {
      this.failureLog.warn('the outbox could not be read: tried again in a second', { err: error });
    }
    if (taken > 0) this.logger.info({ batches: taken }, 'took over batches that were left in the outbox');
  }

  /** Waits until few of the claimed batches are left to publish; every end of a delivery looks at it. */
  private async untilRoom(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.onRoom = resolve;
      this.pump();
    });
    this.onRoom = undefined;
  }
}

/** Says how much is stored and not yet known to be on the stream; nothing while the database is away. */
function measureOutbox(outbox: OutboxRepository, metrics: Registry): void {
  const overdue = new Gauge({
    name: 'events_outbox_overdue_seconds',
    help: 'For how long the oldest batch of the outbox has been free to take; above a few seconds, publishing does not work',
    registers: [metrics],
  });
  new Gauge({
    name: 'events_outbox_batches',
    help: 'Batches that are stored and not yet known to be on the EVENTS stream',
    registers: [metrics],
    async collect() {
      const unknown = { count: Number.NaN, overdueSeconds: Number.NaN };
      const measured = await outbox.measure().catch(() => unknown);
      this.set(measured.count);
      overdue.set(measured.overdueSeconds);
    },
  });
}
