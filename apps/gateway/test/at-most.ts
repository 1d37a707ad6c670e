import type { ClientLimit } from '../src/http/http-limits.js';

/** Limits that let one address use the whole resource. */
export function atMost(total: number): ClientLimit {
  return { total, perAddress: total };
}
