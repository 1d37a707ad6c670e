import type { OutboxBatch } from './outbox.repository.js';

/** A batch that this instance publishes. */
export interface QueuedBatch extends OutboxBatch {
  /** The end of this instance's claim, from a monotonic clock. */
  claimedUntil: number;
  /** Number of characters of event data, as a measure of the batch's memory. */
  length: number;
}

// Waiting batches are also in the outbox. Above these limits, new batches remain only in the outbox, use no memory, and are published by a
// recovery pass. The limits allow for one or two seconds of new batches while the stream is in doubt: many small batches, or 32 large
// batches.
const maxFresh = 512;
const maxFreshLength = 16 * 1024 ** 2;
// Claiming takes longer than publishing a batch, so claim the next batches while this many are still waiting.
const lowWater = 4;
// Claimed batches get every fourth turn.
const backlogTurn = 4;
// The duration of a claim in the outbox. After that, another instance may have claimed the batch.
const claimMs = 10_000;

/**
 * Batches in memory that wait to be published. New batches are published before claimed batches, because live clients wait for them, and
 * their events do not have to be read from the store. Claimed batches get every fourth turn. Otherwise, they would wait forever at full
 * load.
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

  /** Whether few enough claimed batches are left to claim more. */
  get isBacklogLow(): boolean {
    return this.backlog.length <= lowWater;
  }

  /** Adds a new batch. Returns false when there is no room. */
  addFresh(batch: OutboxBatch): boolean {
    const queued = this.toQueued(batch);
    const length = this.freshLength + queued.length;
    if (this.fresh.length >= maxFresh || length > maxFreshLength) return false;
    this.fresh.push(queued);
    this.freshLength = length;
    return true;
  }

  /** Adds batches claimed from the outbox. */
  addClaimed(batches: readonly OutboxBatch[]): void {
    this.backlog.push(...batches.map((batch) => this.toQueued(batch)));
  }

  /** Puts a batch back at the front of the queue. The limits do not apply, because only a few batches are in flight. */
  putBack(batch: QueuedBatch): void {
    this.fresh.unshift(batch);
    this.freshLength += batch.length;
  }

  /** Removes and returns the batch to publish next. */
  next(): QueuedBatch | undefined {
    this.turn = (this.turn + 1) % backlogTurn;
    return this.turn === 0
      ? (this.backlog.shift() ?? this.shiftFresh())
      : (this.shiftFresh() ?? this.backlog.shift());
  }

  /** Removes the batches whose claim has ended, because another instance may publish them. */
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
