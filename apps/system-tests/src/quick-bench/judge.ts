import { median, quantile } from '../measure/quantile.js';

/** CPU per unit of work of this checkout and of the baseline, by round. The two runs of a round followed each other. */
export interface Rounds {
  own: readonly number[];
  baseline: readonly number[];
}

export interface Verdict {
  /** Median of the rounds' ratios, this checkout to the baseline. */
  ratio: number;
  /** The factor by which two runs of the same commit differ, median. */
  spread: number;
  /** Of 100 comparisons of a commit with itself, 97 give a ratio below this. */
  limit: number;
  isLoss: boolean;
}

/** Smaller losses are ignored, because they cost less than the search for them. */
const smallestLoss = 1.05;
const comparisons = 2_000;

/** Looks for a loss: a ratio above 1.05, and above what a comparison of a commit with itself can give. */
export function judge({ own, baseline }: Rounds): Verdict {
  const ratios = own.map((value, round) => value / (baseline[round] ?? Number.NaN));
  const ratio = median(ratios);
  // A loss is in all rounds, so the ratios of two rounds differ only by chance. Their quotient has the errors of four runs, which are the
  // square root of two times as large as those of two runs.
  const same = ratios.slice(1).map((value, index) => (value / (ratios[index] ?? Number.NaN)) ** Math.SQRT1_2);
  const spread = median(same.map((value) => Math.max(value, 1 / value)));
  const limit = compareWithItself(same, ratios.length);
  return { ratio, spread, limit, isLoss: ratio > Math.max(smallestLoss, limit) };
}

/** Draws ratios of two runs of the same commit, as many as a comparison has rounds, and takes their median, as `judge` does. */
function compareWithItself(same: readonly number[], rounds: number): number {
  const draw = (): number => {
    const ratio = same[Math.floor(Math.random() * same.length)] ?? Number.NaN;
    return Math.random() < 0.5 ? ratio : 1 / ratio;
  };
  const medians = Array.from({ length: comparisons }, () => median(Array.from({ length: rounds }, draw)));
  return quantile(medians, 0.97);
}
