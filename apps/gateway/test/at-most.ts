import type { ShareLimits } from '../src/http/fair-share.js';

/** The limits of a resource of which one address may hold all. */
export function atMost(total: number): ShareLimits {
  return { total, perAddress: total, patienceMs: Infinity };
}
