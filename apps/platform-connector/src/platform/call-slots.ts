import type { LookUpPriority } from '@stream-events/contracts';

/** How many calls there may be at once. */
export interface CallSlotsOptions {
  /** In all. */
  total: number;
  /** Of these, what nobody waits for may have so many: the others are kept for those who wait. */
  background: number;
  /** How many may wait for their turn, of each priority. */
  maxWaiting: number;
}

/** What became of asking for a slot; `release` gives it back, once. */
export type Slot = { kind: 'free'; release: () => void } | { kind: 'full' } | { kind: 'late' };

interface Waiting {
  grant: () => void;
}

/** Bounds how many calls are made at once; interactive ones go first, and never behind background ones. */
export class CallSlots {
  private readonly inUse = { interactive: 0, background: 0 };
  private readonly waiting: Record<LookUpPriority, Waiting[]> = { interactive: [], background: [] };

  constructor(private readonly options: CallSlotsOptions) {}

  /** Waits for a slot, for so long; `full` at once when too many wait already. */
  async acquire(priority: LookUpPriority, limitMs: number): Promise<Slot> {
    if (this.hasRoom(priority)) return this.occupy(priority);
    const queue = this.waiting[priority];
    if (queue.length >= this.options.maxWaiting) return { kind: 'full' };
    return new Promise((resolve) => {
      const entry: Waiting = {
        grant: () => {
          clearTimeout(timer);
          resolve(this.occupy(priority));
        },
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(entry), 1);
        resolve({ kind: 'late' });
      }, limitMs);
      queue.push(entry);
    });
  }

  private hasRoom(priority: LookUpPriority): boolean {
    const { total, background } = this.options;
    if (this.inUse.interactive + this.inUse.background >= total) return false;
    return priority === 'interactive' || this.inUse.background < background;
  }

  private occupy(priority: LookUpPriority): Slot {
    this.inUse[priority] += 1;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.inUse[priority] -= 1;
      this.grantNext();
    };
    return { kind: 'free', release };
  }

  private grantNext(): void {
    for (const priority of ['interactive', 'background'] as const) {
      if (!this.hasRoom(priority)) continue;
      const next = this.waiting[priority].shift();
      if (next) {
        next.grant();
        return;
      }
    }
  }
}
