import { hash } from 'node:crypto';

/** Random numbers that depend only on a seed, so that a run can be repeated (mulberry32: fast, good enough to choose inputs). */
export class Random {
  private state: number;

  constructor(seed: string) {
    this.state = hash('sha256', seed, 'buffer').readUInt32LE(0);
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 (inclusive) to `limit` (exclusive). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Returns a random item. Throws when the list is empty. */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('cannot pick from an empty list');
    return list[this.below(list.length)] as T; // Safe cast: the index is within the list
  }

  /** Returns true with the given probability (0 to 1). */
  chance(probability: number): boolean {
    return this.next() < probability;
  }
}
