import type { OutboxBatch } from './outbox.repository.js';

/** A batch in this instance's hands, and until when it is nobody else's (milliseconds since 1970). */
export interface QueuedBatch extends OutboxBatch {
  claimedUntil: number;
}

// What waits here is also in the outbox: beyond this it is left to the sweep, and costs no memory.
const maxFresh = 32;
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
  private fresh: QueuedBatch[] = [];
  private backlog: QueuedBatch[] = [];
  private turn = 0;

  constructor(private readonly now: () => number = Date.now) {}

  get size(): number {
    return this.fresh.length + this.backlog.length;
  }

  /** Whether more of the outbox should be fetched. */
  get isBacklogLow(): boolean {
    return this.backlog.length <= lowWater;
  }

  /** Adds a batch that was just written; false: there is no room. */
  addFresh(batch: OutboxBatch): boolean {
    if (this.fresh.length >= maxFresh) return false;
    this.fresh.push({ ...batch, claimedUntil: this.now() + claimMs });
    return true;
  }

  /** Adds batches claimed from the outbox. */
  addClaimed(batches: readonly OutboxBatch[]): void {
    const claimedUntil = this.now() + claimMs;
    this.backlog.push(...batches.map((batch) => ({ ...batch, claimedUntil })));
  }

  /** Puts a batch back in front that was taken out; there is room for those few. */
  putBack(batch: QueuedBatch): void {
    this.fresh.unshift(batch);
  }

  /** Takes out the batch that is published next. */
  next(): QueuedBatch | undefined {
    this.turn = (this.turn + 1) % backlogTurn;
    const [first, second] = this.turn === 0 ? [this.backlog, this.fresh] : [this.fresh, this.backlog];
    return first.shift() ?? second.shift();
  }

  /** Takes out what has waited so long that any instance may have it by now. */
  dropExpired(): OutboxBatch[] {
    const now = this.now();
    const isExpired = (batch: QueuedBatch): boolean => batch.claimedUntil <= now;
    const expired = [...this.fresh, ...this.backlog].filter(isExpired);
    if (expired.length === 0) return expired;
    this.fresh = this.fresh.filter((batch) => !isExpired(batch));
    this.backlog = this.backlog.filter((batch) => !isExpired(batch));
    return expired;
  }
}
