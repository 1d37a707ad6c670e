import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Histogram buckets, in seconds, for work that takes milliseconds and has a time limit of seconds. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Histogram buckets, in seconds, for the time since an event was received. An outage raises this time to minutes. */
export const lagBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** One metric of a project's `metrics.ts`. */
export interface MetricDeclaration {
  type: 'counter' | 'gauge' | 'histogram';
  name: string;
  help: string;
  labels: readonly string[];
}

/** Declares metrics by name. `create` of a metric adds it to a registry. */
export function declareMetrics<
  Metrics extends { [Name in keyof Metrics]: (name: Name & string) => MetricDeclaration },
>(metrics: Metrics) {
  const named = Object.entries<(name: never) => MetricDeclaration>(metrics).map(([name, declare]) => [
    name,
    declare(name as never), // Safe cast: the constraint of the type parameter has checked the name.
  ]);
  // Safe cast: every metric was declared under its own name.
  return Object.fromEntries(named) as { [Name in keyof Metrics]: ReturnType<Metrics[Name]> };
}

export function counter<Label extends string>(help: string, labels: readonly Label[] = []) {
  return (name: `${string}_total`) => {
    const create = (registry: Registry) =>
      new Counter<Label>({ name, help, labelNames: labels, registers: [registry] });
    return { type: 'counter', name, help, labels, create } as const;
  };
}

/** Before each scrape, the gauge calls `collect`, if `create` got it, to set the current value. */
export function gauge<Label extends string>(help: string, labels: readonly Label[] = []) {
  return (name: string) => {
    const create = (registry: Registry, collect?: (gauge: Gauge<Label>) => void | Promise<void>) =>
      new Gauge<Label>({
        ...{ name, help, labelNames: labels, registers: [registry] },
        collect() {
          return collect?.(this);
        },
      });
    return { type: 'gauge', name, help, labels, create } as const;
  };
}

/** The name of a histogram ends with its unit. */
export function histogram<Label extends string>(
  help: string,
  buckets: readonly number[],
  labels: readonly Label[] = [],
) {
  return (name: `${string}_${'seconds' | 'bytes' | 'events'}`) => {
    const create = (registry: Registry) =>
      new Histogram<Label>({
        ...{ name, help, labelNames: labels, registers: [registry] },
        buckets: [...buckets],
      });
    return { type: 'histogram', name, help, labels, create } as const;
  };
}
