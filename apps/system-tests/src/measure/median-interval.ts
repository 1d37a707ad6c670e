/** An interval that contains a population's median with a known probability. */
export interface MedianInterval {
  from: number;
  to: number;
  /** From 0 to 1. */
  confidence: number;
}

const wantedConfidence = 0.95;

/**
 * Returns the narrowest interval between two measured values that contains the median with a probability of at least 95 %. With too few
 * values for this, returns the whole range. Assumes no distribution, only that a value is as likely above the median as below.
 */
export function medianInterval(numbers: readonly number[]): MedianInterval {
  const sorted = [...numbers].sort((a, b) => a - b);
  const count = sorted.length;
  let cut = 0;
  while (confidenceWithout(cut + 1, count) >= wantedConfidence) cut += 1;
  const [from = Number.NaN, to = Number.NaN] = [sorted[cut], sorted[count - 1 - cut]];
  return { from, to, confidence: confidenceWithout(cut, count) };
}

/** Confidence of the interval that is left after removing the `cut` lowest and the `cut` highest of `count` values. */
function confidenceWithout(cut: number, count: number): number {
  let outside = 0;
  let choices = 1;
  for (let below = 0; below <= cut; below += 1) {
    outside += choices / 2 ** count;
    choices = (choices * (count - below)) / (below + 1);
  }
  return 1 - 2 * outside;
}
