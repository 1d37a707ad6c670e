import { queryOptions } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { api, call } from '../api/api.js';

export type Scope = components['schemas']['ScopeRecord'];
export type Endpoint = components['schemas']['ApiEndpointRecord'];

export const scopesQuery = queryOptions({
  queryKey: ['platform', 'scopes'],
  queryFn: () => call(api().GET('/api/v1/platform/scopes')),
});

export const endpointsQuery = queryOptions({
  queryKey: ['platform', 'api-endpoints'],
  queryFn: () => call(api().GET('/api/v1/platform/api-endpoints')),
});
