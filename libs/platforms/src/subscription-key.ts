import type { Condition } from './outbound-platform.js';

/**
 * Identifies what a subscription is about: type, version, and condition. The platform allows one subscription for each key and
 * callback (docs/platform-facts.md §4.5).
 */
export function subscriptionKey({
  type,
  version,
  condition,
}: {
  type: string;
  version: string;
  condition: Condition;
}): string {
  // The platform's replies also contain the optional keys that the service did not send, with empty values.
  const given = Object.entries(condition).filter(([, value]) => value !== '');
  return JSON.stringify([type, version, ...given.sort(([a], [b]) => (a < b ? -1 : 1))]);
}
