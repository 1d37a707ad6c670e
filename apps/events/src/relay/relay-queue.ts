import type { OutboxBatch } from './outbox.repository.js';

/** A batch that this instance publishes. */
export interface QueuedBatch extends OutboxBatch {
  /** The end of this instance's claim, from a monotonic clock. */
  claimedUntil: number;
  /** Number of characters of event data, as a measure of the batch's memory. */
  length: number;
}

// Limits on new batches in memory. They allow for one or two seconds of new batches while the stream is in doubt: many small batches, or 32
// large batches. Waiting batches are also in the outbox. When the queue is full, new batches remain only in the outbox, and a recovery pass
// publishes them.
const maxFresh = 512;
const maxFreshLength = 16 * 1024 ** 2;
// Claiming batches takes longer than publishing one, so the relay claims more batches before the last ones are published: when at most
// this many claimed batches are waiting.
const lowWater = 4;
// Claimed batches get every fourth turn.
const backlogTurn = 4;
// The duration of a claim in the outbox. Afterwards, another instance may claim the batch.
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

  /** Whether so few claimed batches are waiting that the relay should claim more. */
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

  /** Removes and returns the batch to publish next; undefined when no batch is waiting. */
  next(): QueuedBatch | undefined {
    this.turn = (this.turn + 1) % backlogTurn;
    return this.turn === 0
      ? (this.backlog.shift() ?? this.shiftFresh())
      : (this.shiftFresh() ?? this.backlog.shift());
  }

  /** Removes and returns the batches whose claims have ended, because another instance may publish them. */
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
