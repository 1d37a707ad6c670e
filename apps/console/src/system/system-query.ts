import { queryOptions, type QueryClient } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { api, call } from '../api/api.js';
import { readGauges, type Measure } from './gauges.js';

export type System = components['schemas']['SystemRecord'];
export type Instance = components['schemas']['InstanceRecord'];

export interface Sample {
  /** Milliseconds since 1970, by this browser's clock. */
  at: number;
  gauges: Partial<Record<Measure, number>>;
}

/** The system's state with the samples for the charts. */
export interface ObservedSystem {
  system: System;
  /** Oldest first. */
  samples: readonly Sample[];
}

// Instances send reports at this interval.
export const pollMs = 5_000;
/** Time span of the charts. */
export const chartMs = 600_000;

/** Reads the system's state every 5 s while a page shows it. After the user leaves the page, the samples stay cached for a while. */
export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: async ({ client, queryKey }): Promise<ObservedSystem> => {
    const system = await call(api().GET('/api/v1/system'));
    return { system, samples: [...recentSamples(client, queryKey), takeSample(system)] };
  },
  refetchInterval: pollMs,
});

function recentSamples(client: QueryClient, queryKey: readonly unknown[]): readonly Sample[] {
  const samples = client.getQueryData<ObservedSystem>(queryKey)?.samples ?? [];
  return samples.filter(({ at }) => at > Date.now() - chartMs);
}

function takeSample(system: System): Sample {
  return { at: Date.now(), gauges: readGauges(system) };
}
