import { QueryClient } from '@tanstack/react-query';
import { isTemporary } from './api-error.js';

const staleMs = 10_000;
const maxRetries = 2;
const retryAgainMs = 5_000;

/** Caches what the pages read. Retries only what can succeed, and keeps trying while the service is down. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: staleMs,
      retry: (failures, error) => failures < maxRetries && isTemporary(error),
      refetchInterval: ({ state }) => (isTemporary(state.error) ? retryAgainMs : false),
      // The browser may be offline and the service on the same machine.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
