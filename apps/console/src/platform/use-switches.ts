import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../api/api.js';
import { platformKey, type EventType } from './platform-queries.js';

/** Switches event types on or off, one after the other, because the service compares all subscriptions after each change. */
export function useSwitches() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ types, active }: { types: readonly EventType[]; active: boolean }) => {
      for (const { type } of types)
        await call(
          api().PUT('/api/v1/platform/event-types/{type}', { params: { path: { type } }, body: { active } }),
        );
    },
    // Also refresh after a failure, because the service may have made some of the changes.
    onSettled: () => queries.invalidateQueries({ queryKey: platformKey }),
  });
}
