import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Counter, Gauge, LOGGER, Registry, type Logger } from '@stream-events/service';
import { OutboxRepository, type OutboxBatch } from './outbox.repository.js';
import { StreamPublisher } from './stream-publisher.js';

// More batches in flight than this only wait inside the broker.
const maxInFlight = 4;
// What waits here is also in the outbox: beyond this it is left to the sweep, and costs no memory.
const maxWaiting = 32;
const claimLimit = 8;
const sweepIntervalMs = 1_000;
const stopLimitMs = 5_000;
// A batch is free to take 10 s after it was written, and taken within a second: this late, publishing does not work.
const overdueLimitSeconds = 60;

/**
 * Brings stored events to the EVENTS stream: at least once each, and twice only after a crash that outlasts the
 * stream's de-duplication window.
 *
 * ```
 * written batch ──▶ waiting ──▶ published ──all acknowledged──▶ struck off the outbox
 *                      │              │
 *                  too many        failed, crashed
 *                      ▼              ▼
 *                  outbox row, free to take after 10 s ──sweep of any instance──▶ waiting
 * ```
 */
@Injectable()
export class Relay {
  private readonly waiting: OutboxBatch[] = [];
  /** On the stream, but perhaps still in the outbox: not to be published again. */
  private readonly acknowledged = new Set<string>();
  private readonly publishedTotal: Counter;
  private readonly failedTotal: Counter;
  private inFlight = 0;
  private isRemoving = false;
  private isStopped = false;
  private sweepTimer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> | undefined;

  constructor(
    private readonly outbox: OutboxRepository,
    private readonly publisher: StreamPublisher,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
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
    if (this.isStopped || this.waiting.length >= maxWaiting) return;
    this.waiting.push(batch);
    this.pump();
  }

  /** Begins to take over what other instances, or earlier runs, left in the outbox. */
  start(): void {
    this.sweepTimer = setInterval(() => {
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
    const deadline = Date.now() + stopLimitMs;
    const isBusy = (): boolean =>
      this.inFlight + this.waiting.length > 0 || this.isRemoving || this.sweeping !== undefined;
    while (isBusy() && Date.now() < deadline) await wait(10);
  }

  private pump(): void {
    while (this.inFlight < maxInFlight) {
      const batch = this.waiting.shift();
      if (!batch) return;
      this.inFlight += 1;
      void this.deliver(batch);
    }
  }

  private async deliver(batch: OutboxBatch): Promise<void> {
    try {
      await this.publisher.publish(batch.events);
      this.publishedTotal.inc(batch.events.length);
      this.acknowledged.add(batch.outboxId);
      void this.removeAcknowledged();
    } catch (error) {
      this.failedTotal.inc();
      this.logger.warn(
        { err: error, outboxId: batch.outboxId },
        'batch not published: it stays in the outbox and is tried again',
      );
    } finally {
      this.inFlight -= 1;
      this.pump();
    }
  }

  /** Strikes off everything acknowledged so far in one statement; what comes meanwhile is the next one. */
  private async removeAcknowledged(): Promise<void> {
    if (this.isRemoving) return;
    this.isRemoving = true;
    try {
      while (this.acknowledged.size > 0) {
        const ids = [...this.acknowledged];
        await this.outbox.remove(ids);
        for (const id of ids) this.acknowledged.delete(id);
      }
    } catch (error) {
      this.logger.warn(
        { err: error },
        'published batches could not be struck off the outbox: tried again in a second',
      );
    } finally {
      this.isRemoving = false;
    }
  }

  /** Takes over what is free to take, as fast as it can be published, until there is no more. */
  private async sweep(): Promise<void> {
    try {
      await this.removeAcknowledged();
      while (!this.isStopped && this.waiting.length <= maxWaiting - claimLimit) {
        const batches = await this.outbox.claim(claimLimit, [...this.acknowledged]);
        if (batches.length > 0)
          this.logger.info({ batches: batches.length }, 'publishing batches that were left in the outbox');
        this.waiting.push(...batches);
        this.pump();
        if (batches.length < claimLimit) return;
        while (this.waiting.length > 0) await wait(5);
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'the outbox could not be read: tried again in a second');
    }
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
