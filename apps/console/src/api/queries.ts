import { queryOptions } from '@tanstack/react-query';
import { api, call } from './api.js';

const minuteMs = 60_000;

/** The queries that several pages use. A query that only one page needs is in the folder of that page. */

export const currentUserQuery = queryOptions({
  queryKey: ['users', 'me'],
  queryFn: () => call(api().GET('/api/v1/users/me')),
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

/** The channels and the bot account that are connected, or whose consent is pending. */
export const connectionsQuery = queryOptions({
  queryKey: ['platform', 'connections'],
  queryFn: () => call(api().GET('/api/v1/platform/connections')),
});

export const streamersQuery = queryOptions({
  queryKey: ['streamers'],
  queryFn: () => call(api().GET('/api/v1/streamers')),
});

/** The open live connections of the user. Each gateway reports its connections every 5 s. */
export const liveConnectionsQuery = queryOptions({
  queryKey: ['live-connections'],
  queryFn: () => call(api().GET('/api/v1/live-connections')),
  staleTime: 0,
  // The interval of the gateways' reports.
  refetchInterval: 5_000,
});

/** All users. Only owners may read them. */
export const usersQuery = queryOptions({
  queryKey: ['users'],
  queryFn: () => call(api().GET('/api/v1/users')),
});
