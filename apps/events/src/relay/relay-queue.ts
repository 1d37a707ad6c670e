import type { OutboxBatch } from './outbox.repository.js';

/** A batch that this instance publishes. */
export interface QueuedBatch extends OutboxBatch {
  /** The end of this instance's claim, by a clock that never goes back. */
  claimedUntil: number;
  /** Characters of event data: a measure of the memory that the batch needs. */
  length: number;
}

// Waiting batches are also in the outbox. Beyond these limits, batches stay there for a recovery pass and cost no memory.
// The limits hold what arrives within one or two seconds while the stream is in doubt: many small batches, or 32 large ones.
const maxFresh = 512;
const maxFreshLength = 16 * 1024 ** 2;
// Claiming takes longer than publishing a batch: fetch the next batches while this many still wait.
const lowWater = 4;
// Claimed batches get every fourth turn.
const backlogTurn = 4;
// The claim in the outbox. After that, another instance may have the batch.
const claimMs = 10_000;

/**
 * Batches in memory that wait to be published. New batches go before claimed ones, because live clients wait for them and
 * their events need not be read from the store. Claimed batches get every fourth turn, or they would wait forever at full
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

  /** Whether it is time to claim more batches. */
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

  /** Puts a batch back in front. The limits do not apply: few batches are in flight. */
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

  /** Removes the batches whose claim has ended: another instance may have them. */
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
