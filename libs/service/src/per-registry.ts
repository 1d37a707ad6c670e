import type { Counter, Registry } from 'prom-client';

/**
 * Creates metrics once per registry. Under `npm start`, all services share one registry, which rejects a second metric with the same name.
 * Libraries that several services use create their metrics through this function. A label, such as `app`, distinguishes the services.
 */
export function perRegistry<T>(create: (registry: Registry) => T): (registry: Registry) => T {
  const created = new WeakMap<Registry, T>();
  return (registry) => {
    const found = created.get(registry) ?? create(registry);
    created.set(registry, found);
    return found;
  };
}

/**
 * Exports these label values as 0 from the start. Without a zero, a series would appear with its first increment, and `increase()` in an
 * alert would miss that increment.
 */
export function startAtZero<Label extends string>(
  counter: Counter<Label>,
  labels: readonly Record<Label, string>[],
): void {
  for (const each of labels) counter.inc(each, 0);
}
