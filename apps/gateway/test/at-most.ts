import type { ShareLimits } from '../src/http/fair-share.js';

/** Returns limits that let one address hold the whole resource. */
export function atMost(total: number): ShareLimits {
  return { total, perAddress: total, patienceMs: Infinity };
}
