import { queryOptions } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { api, call } from './api.js';

const minuteMs = 60_000;

/** Queries that several pages share. Other queries are in their page's folder. */

export const currentUserQuery = queryOptions({
  queryKey: ['users', 'me'],
  // Safe cast: a session gets all fields.
  queryFn: async () => (await call(api().GET('/api/v1/users/me'))) as components['schemas']['UserReply'],
  staleTime: minuteMs,
});

export const platformStatusQuery = queryOptions({
  queryKey: ['platform', 'status'],
  queryFn: () => call(api().GET('/api/v1/platform/status')),
  staleTime: minuteMs,
});

export const eventTypesQuery = queryOptions({
  queryKey: ['platform', 'event-types'],
  queryFn: () => call(api().GET('/api/v1/platform/event-types')),
  staleTime: minuteMs,
});

/** The connections of channels and of the bot account, in all states. */
export const connectionsQuery = queryOptions({
  queryKey: ['platform', 'connections'],
  queryFn: () => call(api().GET('/api/v1/platform/connections')),
});

export const streamersQuery = queryOptions({
  queryKey: ['streamers'],
  queryFn: () => call(api().GET('/api/v1/streamers')),
});

/** The user's open live connections. */
export const liveConnectionsQuery = queryOptions({
  queryKey: ['live-connections'],
  queryFn: () => call(api().GET('/api/v1/live-connections')),
  staleTime: 0,
  // Gateways report at this interval.
  refetchInterval: 5_000,
});

/** Only owners can read this list. */
export const usersQuery = queryOptions({
  queryKey: ['users'],
  queryFn: () => call(api().GET('/api/v1/users')),
});
