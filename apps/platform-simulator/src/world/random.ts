/** A seeded random number generator. The same seed gives the same numbers, so simulations can be repeated. */
export class Random {
  private state: number;

  constructor(seed: string) {
    this.state = hashSeed(seed);
  }

  /** From 0 (inclusive) to 1 (exclusive). Algorithm: mulberry32 (public domain, Tommy Ettinger). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** From `min` to `max`, both inclusive. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** The list must not be empty. */
  pick<T>(list: readonly T[]): T {
    const item = list[this.integer(0, list.length - 1)];
    if (item === undefined) throw new RangeError('cannot pick from an empty list');
    return item;
  }

  /** Picks an item with a probability proportional to its weight. The list must not be empty. */
  pickWeighted<T>(list: readonly T[], weightOf: (item: T) => number): T {
    let rest = this.next() * list.reduce((sum, item) => sum + weightOf(item), 0);
    for (const item of list) {
      rest -= weightOf(item);
      if (rest < 0) return item;
    }
    return this.pick(list.slice(-1)); // rounding errors can leave a tiny remainder
  }

  /** `count` items from different places of the list, in random order; all items if the list is shorter. */
  sample<T>(list: readonly T[], count: number): T[] {
    const rest = [...list];
    return Array.from({ length: Math.min(count, rest.length) }, () => {
      const [item] = rest.splice(this.integer(0, rest.length - 1), 1);
      if (item === undefined) throw new RangeError('cannot sample from an empty list');
      return item;
    });
  }

  /** Text of `length` digits without a leading zero, like the platform's ids. */
  digits(length: number): string {
    return Array.from({ length }, (_, index) => this.integer(index === 0 ? 1 : 0, 9)).join('');
  }

  /** A version 4 UUID, derived from the seed. */
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.integer(0, 15).toString(16)).join('');
    const variant = this.pick(['8', '9', 'a', 'b']);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}

/** Hashes text to 32 bits (FNV-1a). */
function hashSeed(seed: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < seed.length; index += 1) {
    hash = Math.imul(hash ^ seed.charCodeAt(index), 0x01000193);
  }
  return hash;
}
