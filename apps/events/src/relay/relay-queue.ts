import type { OutboxBatch } from './outbox.repository.js';

/** A batch in this instance's hands. */
export interface QueuedBatch extends OutboxBatch {
  /** Until when it is nobody else's, by a clock that never goes back. */
  claimedUntil: number;
  /** Characters of event data: what it costs in memory. */
  length: number;
}

// What waits here is also in the outbox: beyond this it is left to the sweep, and costs no memory. It is what arrives in
// a second or two while the stream is in doubt: many small batches, or 32 of the largest.
const maxFresh = 512;
const maxFreshLength = 16 * 1024 ** 2;
// A claim takes longer than a batch is published: this many still wait when the next batches are fetched.
const lowWater = 4;
// Old batches get every fourth turn.
const backlogTurn = 4;
// As the outbox says. What waited longer may be with another instance, and is left to it.
const claimMs = 10_000;

/**
 * Batches that wait to be published, in memory. Those just written go before those claimed from the outbox: somebody
 * watches them live, and they need not be read from the store. But not always: at full load the old ones would wait for
 * ever.
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

  /** Whether more of the outbox should be fetched. */
  get isBacklogLow(): boolean {
    return this.backlog.length <= lowWater;
  }

  /** Adds a batch that was just written; false: there is no room. */
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

  /** Puts a batch back in front that was taken out; there is room for those few. */
  putBack(batch: QueuedBatch): void {
    this.fresh.unshift(batch);
    this.freshLength += batch.length;
  }

  /** Takes out the batch that is published next. */
  next(): QueuedBatch | undefined {
    this.turn = (this.turn + 1) % backlogTurn;
    return this.turn === 0
      ? (this.backlog.shift() ?? this.shiftFresh())
      : (this.shiftFresh() ?? this.backlog.shift());
  }

  /** Takes out what has waited so long that any instance may have it by now. */
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
