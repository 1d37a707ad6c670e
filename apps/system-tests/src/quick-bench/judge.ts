import { median } from '../measure/quantile.js';

/** The same figure of this checkout and of the baseline, one value per round. */
export interface Compared {
  own: readonly number[];
  baseline: readonly number[];
}

export interface Verdict {
  /** Median of the rounds' ratios, this checkout to the baseline. */
  ratio: number;
  /** Factor by which two runs of the same commit differ, from one round to the next: the largest of all rounds and both checkouts. */
  noise: number;
  isLoss: boolean;
}

/** Smaller losses are ignored, because they cost less than the search for them. */
const smallestLoss = 1.05;

/** Compares CPU per unit of work. A loss is above 1.05, and above what two runs of the same commit differ by. */
export function judge({ own, baseline }: Compared): Verdict {
  const ratio = median(own.map((value, round) => value / (baseline[round] ?? Number.NaN)));
  const noise = Math.max(...[own, baseline].flatMap(differencesOf));
  return { ratio, noise, isLoss: ratio > Math.max(smallestLoss, noise) };
}

function differencesOf(values: readonly number[]): number[] {
  return values.slice(1).map((value, index) => {
    const previous = values[index] ?? Number.NaN;
    return Math.max(value / previous, previous / value);
  });
}
