import { QueryClient } from '@tanstack/react-query';
import { isTemporary, retryInterval } from './api-error.js';

const staleMs = 10_000;
const maxRetries = 2;

/** Caches the results of queries. Retries only queries that can succeed, and keeps trying while the service is down. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: staleMs,
      retry: (failures, error) => failures < maxRetries && isTemporary(error),
      refetchInterval: ({ state }) => retryInterval(state.error),
      // Send requests even while the browser is offline, because the service can be on the same machine.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
