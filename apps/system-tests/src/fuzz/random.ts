import { hash } from 'node:crypto';

/**
 * Random numbers that depend only on a seed, so that runs can be repeated. Algorithm: mulberry32, which is fast and good enough to choose
 * inputs.
 */
export class Random {
  private state: number;

  constructor(seed: string) {
    this.state = hash('sha256', seed, 'buffer').readUInt32LE(0);
  }

  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Integer from 0 (inclusive) to `limit` (exclusive). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Throws if the list is empty. */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('cannot pick from an empty list');
    return list[this.below(list.length)] as T; // Safe cast: the index is within the list
  }

  /** @param probability from 0 to 1 */
  chance(probability: number): boolean {
    return this.next() < probability;
  }
}
