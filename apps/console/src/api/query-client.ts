import { QueryClient } from '@tanstack/react-query';
import { isTemporary, retryInterval } from './api-error.js';

const staleMs = 10_000;
const maxRetries = 2;

/** Retries only queries that can succeed. Keeps retrying while the service is down. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: staleMs,
      retry: (failures, error) => failures < maxRetries && isTemporary(error),
      refetchInterval: ({ state }) => retryInterval(state.error),
      // Send requests even when the browser is offline: the service can run on the same machine.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
