import { mutate } from './mutate.js';
import { Random } from './random.js';

/** Raw material for a target's inputs. */
export interface InputSource {
  /** Valid inputs. */
  seeds: readonly (string | Buffer)[];
  /** Text that mutations insert: names of the target's parameters and fields, special values, and syntax. */
  words?: readonly string[];
}

/** Mutates the seeds, and the inputs that reached new code. The same random seed gives the same inputs. */
export class Corpus {
  private readonly inputs: Buffer[];
  private readonly words: readonly string[];
  readonly random: Random;
  private readonly seeds: number;
  private made = 0;

  constructor({ seeds, words = [] }: InputSource, seed: string) {
    this.inputs = seeds.map((input) => Buffer.from(input));
    this.seeds = this.inputs.length;
    this.words = words;
    this.random = new Random(seed);
  }

  /** Number of inputs that have reached new code. */
  get found(): number {
    return this.inputs.length - this.seeds;
  }

  /** Returns every seed unchanged first, then mutations. */
  next(): Buffer {
    this.made += 1;
    if (this.made <= this.seeds) return this.inputs[this.made - 1] ?? Buffer.alloc(0);
    const { random, inputs, words } = this;
    // 1 % of the inputs are random bytes.
    if (random.chance(0.01))
      return Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)));
    return mutate(random.pick(inputs), random, { others: inputs, words });
  }

  /** Keeps an input for later mutations. */
  add(input: Buffer): void {
    this.inputs.push(input);
  }
}
