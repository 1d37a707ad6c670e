import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../api/api.js';
import { platformKey, type EventType } from './platform-queries.js';

/** Switches types one at a time, because the service compares all subscriptions after each change. */
export function useSwitches() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ types, active }: { types: readonly EventType[]; active: boolean }) => {
      for (const { type } of types)
        await call(
          api().PUT('/api/v1/platform/event-types/{type}', { params: { path: { type } }, body: { active } }),
        );
    },
    // Refresh after failures too: some of the changes may have succeeded.
    onSettled: () => queries.invalidateQueries({ queryKey: platformKey }),
  });
}
