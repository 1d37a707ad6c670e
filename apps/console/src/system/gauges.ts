import type { components } from '@stream-events/client';
import { printBytes, printDuration, printNumber } from '../kit/print-number.js';

type System = components['schemas']['SystemRecord'];
type Instance = components['schemas']['InstanceRecord'];

/**
 * How to combine the values of several instances. Sum the work of all instances. Use the maximum or minimum for a state whose worst value
 * counts.
 */
type Combine = 'sum' | 'max' | 'min' | 'sum of processes';

interface Gauge {
  title: string;
  measure: string;
  combine: Combine;
  print: (value: number) => string;
}

const perSecond = (value: number): string => `${printNumber(value)} /s`;

/** Charts in page order. */
export const gauges = {
  stored: { title: 'Events stored', measure: 'events_stored_per_second', combine: 'sum', print: perSecond },
  delivered: {
    title: 'Events delivered live',
    measure: 'live_events_delivered_per_second',
    combine: 'sum',
    print: perSecond,
  },
  calls: {
    title: 'Calls to the platform',
    measure: 'platform_calls_per_second',
    combine: 'sum',
    print: perSecond,
  },
  memory: { title: 'Memory', measure: 'memory_bytes', combine: 'sum of processes', print: printBytes },
  ingestWaiting: {
    title: 'Waiting to be stored',
    measure: 'ingest_waiting_events',
    combine: 'sum',
    print: (value) => `${printNumber(value)} events`,
  },
  publishLag: {
    title: 'Publishing lag',
    measure: 'outbox_overdue_seconds',
    combine: 'max',
    print: printDuration,
  },
  liveLag: {
    title: 'Live delivery lag',
    measure: 'live_feed_lag_messages',
    combine: 'max',
    print: (value) => `${printNumber(value)} messages`,
  },
  pollLag: {
    title: 'Polling lag',
    measure: 'poll_lag_seconds',
    combine: 'max',
    print: printDuration,
  },
} as const satisfies Record<string, Gauge>;

export type GaugeName = keyof typeof gauges;

/** Reads the gauges from the latest reports. Omits gauges that no instance reports. */
export function readGauges(system: System): Partial<Record<GaugeName, number>> {
  const values = Object.entries<Gauge>(gauges).flatMap(([name, { measure, combine }]) => {
    const value = combineMeasure(system, measure, combine);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(values) as Partial<Record<GaugeName, number>>; // Safe cast: the names are the keys.
}

/** Combines a measure over all reporting instances; undefined if none reports it. */
export function combineMeasure(system: System, measure: string, combine: Combine): number | undefined {
  const present = system.instances.filter(({ status }) => status !== 'silent');
  const instances = combine === 'sum of processes' ? onePerProcess(present) : present;
  const values = instances.flatMap(({ measures }) => measures[measure] ?? []);
  if (values.length === 0) return undefined;
  if (combine === 'max') return Math.max(...values);
  return combine === 'min' ? Math.min(...values) : values.reduce((sum, value) => sum + value, 0);
}

/** Returns one instance per process. All services in a process report the memory of the whole process. */
function onePerProcess(instances: readonly Instance[]): Instance[] {
  return [...new Map(instances.map((each) => [`${each.host} ${each.process_id}`, each])).values()];
}
