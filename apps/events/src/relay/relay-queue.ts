import type { OutboxBatch } from './outbox.repository.js';

// What waits here is also in the outbox: beyond this it is left to the sweep, and costs no memory.
const maxFresh = 32;
// A claim takes longer than a batch is published: this many still wait when the next batches are fetched.
const lowWater = 4;
// Old batches get every fourth turn.
const backlogTurn = 4;

/**
 * Batches that wait to be published, in memory. Those just written go before those claimed from the outbox: somebody
 * watches them live, and they need not be read from the store. But not always: at full load the old ones would wait for
 * ever.
 */
export class RelayQueue {
  private fresh: OutboxBatch[] = [];
  private backlog: OutboxBatch[] = [];
  private turn = 0;

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
    this.fresh.push(batch);
    return true;
  }

  /** Adds batches claimed from the outbox. */
  addClaimed(batches: readonly OutboxBatch[]): void {
    this.backlog.push(...batches);
  }

  /** Takes out the batch that is published next. */
  next(): OutboxBatch | undefined {
    this.turn = (this.turn + 1) % backlogTurn;
    const [first, second] = this.turn === 0 ? [this.backlog, this.fresh] : [this.fresh, this.backlog];
    return first.shift() ?? second.shift();
  }

  /** Takes out everything. */
  clear(): OutboxBatch[] {
    const batches = [...this.fresh, ...this.backlog];
    this.fresh = [];
    this.backlog = [];
    return batches;
  }
}
