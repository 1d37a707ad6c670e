import type { Condition } from './outbound-platform.js';

/**
 * Returns a key for a subscription's type, version, and condition. The platform allows one subscription per key and callback, conduit, or
 * session (FACTS.md §4.5).
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
  // Ignore empty values: the platform's replies also list the optional keys that the service never sent, with empty values.
  const given = Object.entries(condition).filter(([, value]) => value !== '');
  return JSON.stringify([type, version, ...given.sort(([a], [b]) => (a < b ? -1 : 1))]);
}
