import type { LookUpPriority } from '@stream-events/contracts';

export interface CallSlotsOptions {
  /** The maximum number of concurrent calls, interactive and background together. */
  total: number;
  /** The maximum number of concurrent background calls. The remaining slots are reserved for interactive calls. */
  background: number;
  /** The maximum number of waiting calls per priority. */
  maxWaiting: number;
}

/**
 * A slot, or the reason why there is none. `full`: too many calls are waiting. `late`: no slot became free in time. Calling `release` again
 * has no effect.
 */
export type Slot = { kind: 'free'; release: () => void } | { kind: 'full' } | { kind: 'late' };

interface Waiting {
  grant: () => void;
}

/**
 * Limits concurrent calls. Interactive calls have reserved slots, and a free slot goes to a waiting interactive call before any waiting
 * background call.
 */
export class CallSlots {
  private readonly inUse = { interactive: 0, background: 0 };
  private readonly waiting: Record<LookUpPriority, Waiting[]> = { interactive: [], background: [] };

  constructor(private readonly options: CallSlotsOptions) {}

  /** Waits up to `limitMs` for a slot. Returns `late` if none becomes free, and `full` at once if too many calls are already waiting. */
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

  countWaiting(priority: LookUpPriority): number {
    return this.waiting[priority].length;
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
