import type { components } from '@stream-events/client';
import { printBytes, printDuration, printNumber } from '../kit/print-number.js';

type System = components['schemas']['SystemRecord'];
type Instance = components['schemas']['InstanceRecord'];

/** The name of a measure. */
export type Measure = keyof Instance['measures'];

/**
 * How to combine the values of several instances. Sum the work of all instances. Use the maximum or minimum for a state whose worst value
 * counts.
 */
type Combine = 'sum' | 'max' | 'min' | 'sum of processes';

interface Gauge {
  title: string;
  combine: Combine;
  print: (value: number) => string;
}

const perSecond = (value: number): string => `${printNumber(value)} /s`;

/** Charts by measure, in page order. */
export const gauges: Readonly<Record<Measure, Gauge>> = {
  webhook_messages_per_second: { title: 'Webhook messages', combine: 'sum', print: perSecond },
  events_stored_per_second: { title: 'Events stored', combine: 'sum', print: perSecond },
  live_events_delivered_per_second: { title: 'Events delivered live', combine: 'sum', print: perSecond },
  live_connections: { title: 'Live connections', combine: 'sum', print: printNumber },
  outbox_overdue_seconds: { title: 'Publishing lag', combine: 'max', print: printDuration },
  platform_budget_calls: { title: 'Platform calls left', combine: 'min', print: printNumber },
  memory_bytes: { title: 'Memory', combine: 'sum of processes', print: printBytes },
  disk_free_bytes: { title: 'Free disk space', combine: 'min', print: printBytes },
};

/** The names of the measures, in page order. Safe cast: the keys are these names. */
export const measures = Object.keys(gauges) as Measure[];

/** Combines the measures of the latest reports. Leaves out measures that no instance reports. */
export function readGauges(system: System): Partial<Record<Measure, number>> {
  const values: Partial<Record<Measure, number>> = {};
  for (const name of measures) {
    const value = combineMeasure(system, name);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function combineMeasure(system: System, name: Measure): number | undefined {
  const { combine } = gauges[name];
  const present = system.instances.filter(({ status }) => status !== 'silent');
  const instances = combine === 'sum of processes' ? onePerProcess(present) : present;
  const values = instances.flatMap(({ measures }) => measures[name] ?? []);
  if (values.length === 0) return undefined;
  if (combine === 'max') return Math.max(...values);
  return combine === 'min' ? Math.min(...values) : values.reduce((sum, value) => sum + value, 0);
}

/** Returns one instance per process. All services in a process report the memory of the whole process. */
function onePerProcess(instances: readonly Instance[]): Instance[] {
  return [...new Map(instances.map((each) => [`${each.host} ${each.process_id}`, each])).values()];
}
