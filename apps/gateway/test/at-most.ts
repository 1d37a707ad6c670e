import type { ShareLimits } from '../src/http/fair-share.js';

/** Limits that let one address use the whole resource. */
export function atMost(total: number): ShareLimits {
  return { total, perAddress: total, patienceMs: Infinity };
}
