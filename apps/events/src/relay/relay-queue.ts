import type { OutboxBatch } from './outbox.repository.js';

/** A batch that this instance publishes. */
export interface QueuedBatch extends OutboxBatch {
  /** When this instance's claim ends, by a monotonic clock. */
  claimedUntil: number;
  /** Characters of event data: a measure of the batch's memory. */
  length: number;
}

// Limits for new batches in memory. While the stream is in doubt, they hold one or two seconds of new batches: many small ones, or eight of
// the largest (2 MiB). The outbox also holds these batches. A batch that does not fit waits in the outbox for a recovery pass.
const maxFresh = 512;
const maxFreshLength = 16 * 1024 ** 2;
// The relay claims more batches when at most this many claimed ones are waiting. Claiming takes longer than publishing, so it must start
// early.
const lowWater = 4;
// Every n-th turn goes to a claimed batch.
const backlogTurn = 4;
// How long a claim lasts in the outbox. Afterwards, another instance may claim the batch.
const claimMs = 10_000;

/**
 * Batches in memory that are waiting to be published. New batches go first: live clients are waiting for them, and their events are already
 * in memory. Every fourth turn goes to a claimed batch, which would otherwise get no turn at full load.
 */
export class RelayQueue {
  private readonly fresh: QueuedBatch[] = [];
  private readonly backlog: QueuedBatch[] = [];
  private freshLength = 0;
  private turn = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  get size(): number {
    return this.fresh.length + this.backlog.length;
  }

  /** Whether the relay should claim more batches. */
  get isBacklogLow(): boolean {
    return this.backlog.length <= lowWater;
  }

  /** Returns false when the queue is full. */
  addFresh(batch: OutboxBatch): boolean {
    const queued = this.toQueued(batch);
    const length = this.freshLength + queued.length;
    if (this.fresh.length >= maxFresh || length > maxFreshLength) return false;
    this.fresh.push(queued);
    this.freshLength = length;
    return true;
  }

  addClaimed(batches: readonly OutboxBatch[]): void {
    this.backlog.push(...batches.map((batch) => this.toQueued(batch)));
  }

  /** Puts a batch back at the front of the queue. Ignores the limits, because only a few batches are in flight. */
  putBack(batch: QueuedBatch): void {
    this.fresh.unshift(batch);
    this.freshLength += batch.length;
  }

  /** Removes and returns the batch to publish next; undefined when the queue is empty. */
  next(): QueuedBatch | undefined {
    this.turn = (this.turn + 1) % backlogTurn;
    return this.turn === 0
      ? (this.backlog.shift() ?? this.shiftFresh())
      : (this.shiftFresh() ?? this.backlog.shift());
  }

  /** Removes and returns the batches whose claim has ended: another instance may publish them now. */
  dropExpired(): OutboxBatch[] {
    const now = this.now();
    const takeExpired = (queue: QueuedBatch[]): QueuedBatch[] => {
      const firstValid = queue.findIndex((batch) => batch.claimedUntil > now);
      return queue.splice(0, firstValid === -1 ? queue.length : firstValid);
    };
    const fresh = takeExpired(this.fresh);
    for (const batch of fresh) this.freshLength -= batch.length;
    return [...fresh, ...takeExpired(this.backlog)];
  }

  private shiftFresh(): QueuedBatch | undefined {
    const batch = this.fresh.shift();
    this.freshLength -= batch?.length ?? 0;
    return batch;
  }

  private toQueued(batch: OutboxBatch): QueuedBatch {
    const length = batch.events.reduce((sum, event) => sum + event.eventData.length, 0);
    return { ...batch, length, claimedUntil: this.now() + claimMs };
  }
}
