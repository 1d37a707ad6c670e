import { queryOptions, type QueryClient } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { api, call } from '../api/api.js';
import { readGauges, type GaugeName } from './gauges.js';

export type System = components['schemas']['SystemRecord'];
export type Instance = components['schemas']['InstanceRecord'];

/** The gauges at one time. */
export interface Sample {
  /** Milliseconds since 1970, by the clock of this browser. */
  at: number;
  gauges: Partial<Record<GaugeName, number>>;
}

/** The state of the system, with the samples that the charts show. */
export interface ObservedSystem {
  system: System;
  /** Oldest first. */
  samples: readonly Sample[];
}

// The interval at which instances send reports.
export const pollMs = 5_000;
/** The time span of the charts, in milliseconds. */
export const chartMs = 600_000;

/**
 * Reads the state of the system every 5 s while a page shows it. The samples stay in the cache for a while after the user leaves the page.
 */
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
