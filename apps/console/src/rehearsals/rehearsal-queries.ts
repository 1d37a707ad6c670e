import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { notifications } from '@mantine/notifications';
import type { components } from '@stream-events/client';
import { api, call } from '../api/api.js';
import { describeFault } from '../api/api-error.js';

export type Rehearsal = components['schemas']['RehearsalRecord'];
export type RehearsalChange = components['schemas']['RehearsalChangeBody'];

const runningPollMs = 1_000;
// Another tab or program can start a rehearsal, so poll even when none is running.
const idlePollMs = 30_000;

/** Speeds to choose from. The service accepts any speed from 0.5 to 20. */
export const speeds = [0.5, 1, 2, 5, 10, 20] as const;

export function printSpeed(speed: number): string {
  return `×${speed}`;
}

/** Rehearsals to the user's connections, newest first. Owners see all users' rehearsals. */
export const rehearsalsQuery = queryOptions({
  queryKey: ['rehearsals'],
  queryFn: () => call(api().GET('/api/v1/rehearsals')),
  refetchInterval: ({ state: { data } }) =>
    data?.some(({ status }) => status === 'running') ? runningPollMs : idlePollMs,
});

export function useRehearsalChange(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: RehearsalChange) =>
      call(api().PATCH('/api/v1/rehearsals/{id}', { params: { path: { id } }, body })),
    // Cancel polls in progress. They could return the state before the change.
    onMutate: () => queries.cancelQueries({ queryKey: rehearsalsQuery.queryKey }),
    onSuccess: (changed) =>
      queries.setQueryData(rehearsalsQuery.queryKey, (all) =>
        all?.map((each) => (each.id === id ? changed : each)),
      ),
    onError: showFault,
  });
}

/** Stops a running rehearsal or removes a finished one. */
export function useRehearsalRemoval(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => call(api().DELETE('/api/v1/rehearsals/{id}', { params: { path: { id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: rehearsalsQuery.queryKey }),
    onError: showFault,
  });
}

function showFault(error: unknown): void {
  const { title, detail } = describeFault(error);
  notifications.show({ color: 'red', title, message: detail });
}
