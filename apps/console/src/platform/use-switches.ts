import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../api/api.js';
import { platformKey, type EventType } from './platform-queries.js';

/** Switches types on and off. One after the other, because each change makes the service compare all subscriptions. */
export function useSwitches() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ types, active }: { types: readonly EventType[]; active: boolean }) => {
      for (const { type } of types)
        await call(
          api().PUT('/api/v1/platform/event-types/{type}', { params: { path: { type } }, body: { active } }),
        );
    },
    // Also after a failure, which may be halfway.
    onSettled: () => queries.invalidateQueries({ queryKey: platformKey }),
  });
}
