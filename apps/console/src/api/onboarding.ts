import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { api, call } from './api.js';
import { connectionsQuery, currentUserQuery } from './queries.js';

const storageKey = 'stream-events.onboarding';

/**
 * Whether to show the guide. The guide ends when a channel is connected and its first event has arrived, or when the owner dismisses the
 * guide. The browser remembers that the guide has ended.
 */
export const onboardingQuery = queryOptions({
  queryKey: ['onboarding'],
  queryFn: ({ client }) => needsOnboarding(client),
  staleTime: Infinity,
});

/** Never shows the guide in this browser again. */
export function endOnboarding(client: QueryClient): void {
  localStorage.setItem(storageKey, 'over');
  client.setQueryData(onboardingQuery.queryKey, false);
}

/** Returns the newest event that the platform sent for a channel, or null. */
export async function readNewestEvent(channelId: string) {
  const query = { channel_id: channelId, origin: 'platform', page_size: 1 } as const;
  const { results } = await call(api().GET('/api/v1/platform-events', { params: { query } }));
  return results[0] ?? null;
}

async function needsOnboarding(client: QueryClient): Promise<boolean> {
  if (localStorage.getItem(storageKey) !== null) return false;
  const { role } = await client.query(currentUserQuery);
  if (role !== 'owner') return false;
  const connections = await client.query(connectionsQuery);
  const channelId = connections.find(
    (each) => each.role === 'channel' && each.platform_id !== null,
  )?.platform_id;
  return channelId == null || (await readNewestEvent(channelId)) === null;
}
