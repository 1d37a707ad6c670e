/** Scopes of named tokens, with their descriptions for the API. */
export const tokenScopes = {
  'events:read': 'read, list, and export stored events',
  'events:live': 'receive events live',
  'events:write': 'add events, create test events, and replay single events',
  'streamers:read': 'read streamers and their streams',
  'streamers:write': 'add, change, and delete streamers',
  'reference:read': 'read the lists of platform scopes and API endpoints',
  'reference:write': 'change the lists of platform scopes and API endpoints',
  'platform:read': 'read the state of the platform connection, its event types, and its subscriptions',
  'platform:call': 'call the platform’s API',
} as const;

export type TokenScope = keyof typeof tokenScopes;

/** The scopes that respect limits on event types and channels. A token with limits cannot have any other scope. */
export const limitableScopes = Object.keys(tokenScopes).filter(
  (scope) => !scope.endsWith(':write') && scope !== 'platform:call',
) as TokenScope[]; // Safe cast: the keys of `tokenScopes` are the scopes.
