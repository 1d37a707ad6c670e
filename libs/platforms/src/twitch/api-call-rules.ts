import type { JsonObject } from '@stream-events/contracts';
import type { PlatformUrls } from '../outbound-platform.js';
import { apiEndpoints, type ApiEndpoint } from './catalogue/api-endpoints.js';

/** The endpoint for a method and a path. `other_methods`: the path exists only with other methods. */
export type FoundEndpoint =
  | { kind: 'found'; endpoint: ApiEndpoint }
  | { kind: 'other_methods'; methods: string[] }
  | { kind: 'unknown' };

/**
 * Finds an endpoint in the catalog. The path must match exactly, so a path with `..`, an empty segment, an escape, or a host finds nothing.
 */
export function findApiEndpoint(method: string, path: string): FoundEndpoint {
  const ofPath = apiEndpoints.filter(({ endpoint }) => endpoint === path);
  const endpoint = ofPath.find((each) => each.method === method);
  if (endpoint) return { kind: 'found', endpoint };
  return ofPath.length === 0
    ? { kind: 'unknown' }
    : { kind: 'other_methods', methods: ofPath.map((each) => each.method) };
}

export function toApiUrl(urls: PlatformUrls, { endpoint }: ApiEndpoint, query: string): string {
  const [first, ...others] = endpoint.split('/');
  const url = first === 'eventsub' ? `${urls.subscriptions}/${others.join('/')}` : `${urls.api}/${endpoint}`;
  return query === '' ? url : `${url}?${query}`;
}

/** Returns why clients cannot call an endpoint; null when they can. */
export function callRefusal({ endpoint, method, auth }: ApiEndpoint): string | null {
  if (auth === 'ext_jwt')
    return 'This endpoint needs a token of an Extension’s backend, which the service does not have.';
  if (endpoint.startsWith('eventsub/') && method !== 'GET' && !isConduitDeletion({ endpoint, method }))
    return 'The service manages its subscriptions and conduits itself. Activate event types and connect channels instead.';
  return null;
}

/** Returns the ids of the conduits that a call deletes, in lower case. */
export function deletedConduits(endpoint: ApiEndpoint, query: URLSearchParams): string[] {
  return isConduitDeletion(endpoint) ? query.getAll('id').map((id) => id.trim().toLowerCase()) : [];
}

/** Whether a call can affect other installations of the application. Only owners may make such calls. */
export function isAdministrative(endpoint: ApiEndpoint): boolean {
  return isConduitDeletion(endpoint);
}

function isConduitDeletion({ endpoint, method }: Pick<ApiEndpoint, 'endpoint' | 'method'>): boolean {
  return endpoint === 'eventsub/conduits' && method === 'DELETE';
}

/** Whether a call changes something, or returns a secret of the channel. */
export function isSensitive({ endpoint, method }: ApiEndpoint): boolean {
  return method !== 'GET' || endpoint === 'streams/key';
}

/** The fields of a call that name the acting user, most specific first. */
const actorFields = [
  'editor_id',
  'moderator_id',
  'sender_id',
  'from_user_id',
  'from_broadcaster_id',
  'broadcaster_id',
  'user_id',
] as const;

/**
 * Endpoints whose acting user is in other fields, or in none. In their calls, the other fields of `actorFields` name the user or channel
 * that the call is about.
 */
const actorFieldsByEndpoint: Readonly<Record<string, readonly string[]>> = {
  'bits/leaderboard': [],
  'channels/followed': ['user_id'],
  'chat/emotes/user': ['user_id'],
  clips: [],
  'subscriptions/user': ['user_id'],
};

/**
 * Returns the ids of the acting users, from the query and the body of a call. Returns an empty list when the call names no user, and
 * several ids when the call names different users.
 */
export function actorsOf({ endpoint }: ApiEndpoint, query: URLSearchParams, body: JsonObject = {}): string[] {
  for (const field of actorFieldsByEndpoint[endpoint] ?? actorFields) {
    const named = [...query.getAll(field), body[field]].filter(
      (id): id is string => typeof id === 'string' && id !== '',
    );
    if (named.length > 0) return [...new Set(named)];
  }
  return [];
}
