/** Scopes of named tokens, with their descriptions for the API. */
export const tokenScopes = {
  'events:read': 'read, list, and export stored events',
  'events:live': 'receive events live',
  'events:write':
    'add events, create test events, replay single events, and list and control your live connections',
  'streamers:read': 'read streamers and their streams',
  'streamers:write': 'add, change, and delete streamers',
  'reference:read': 'read the lists of platform scopes and API endpoints',
  'reference:write': 'change the lists of platform scopes and API endpoints',
  'platform:read':
    'read the state of the platform connection, its event types, its subscriptions, and pictures of users and categories',
  'platform:call': 'call the platform’s API',
} as const;

export type TokenScope = keyof typeof tokenScopes;

/**
 * The scopes that a token with limits on event types and channels can have: those that only read the service's data. The limits apply to
 * events, and not to streamers, reference lists, or the platform connection.
 */
export const limitableScopes = Object.keys(tokenScopes).filter(
  (scope) => !scope.endsWith(':write') && scope !== 'platform:call',
) as TokenScope[]; // Safe cast: the keys of `tokenScopes` are the scopes.
