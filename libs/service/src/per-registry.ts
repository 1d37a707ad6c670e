import type { Counter, Registry } from 'prom-client';

/**
 * Creates metrics once per registry. Under `npm start`, all services share a registry, which accepts the name of a metric only once.
 * Libraries that several services use therefore create their metrics through this function, with the label `app`.
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
 * Exports these label values from the start, with the value 0. Otherwise, a series would begin with its first increment, and `increase()`
 * in an alert would miss this increment.
 */
export function startAtZero<Label extends string>(
  counter: Counter<Label>,
  labels: readonly Record<Label, string>[],
): void {
  for (const each of labels) counter.inc(each, 0);
}

/** Histogram buckets, in seconds, for work that takes milliseconds and has a time limit of seconds. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Histogram buckets, in seconds, for the time since the receipt of an event, which grows to minutes in an outage. */
export const lagBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
