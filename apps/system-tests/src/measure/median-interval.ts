/** An interval that holds the median of a population with a probability. */
export interface MedianInterval {
  from: number;
  to: number;
  /** From 0 to 1. */
  confidence: number;
}

const wantedConfidence = 0.95;

/**
 * The narrowest interval between two measured values that holds the median with at least 95 %, or between the lowest and the highest
 * when there are too few for that. Assumes nothing about their distribution: each value is as likely above the median as below.
 */
export function medianInterval(numbers: readonly number[]): MedianInterval {
  const sorted = [...numbers].sort((a, b) => a - b);
  const count = sorted.length;
  let cut = 0;
  while (confidenceWithout(cut + 1, count) >= wantedConfidence) cut += 1;
  const [from = Number.NaN, to = Number.NaN] = [sorted[cut], sorted[count - 1 - cut]];
  return { from, to, confidence: confidenceWithout(cut, count) };
}

/** The confidence of the interval without the lowest and the highest `cut` of `count` values. */
function confidenceWithout(cut: number, count: number): number {
  let outside = 0;
  let choices = 1;
  for (let below = 0; below <= cut; below += 1) {
    outside += choices / 2 ** count;
    choices = (choices * (count - below)) / (below + 1);
  }
  return 1 - 2 * outside;
}
