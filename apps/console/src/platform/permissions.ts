import type { EventType } from './platform-queries.js';

/** A permission that the service requests from a channel. */
export interface Permission {
  scope: string;
  text: string;
}

/**
 * Returns the permissions that these types need, sorted by scope. If any of several scopes suffices, returns the first one: it permits
 * least, and the service requests it.
 */
export function permissionsOf(types: readonly Pick<EventType, 'scopes' | 'permissions'>[]): Permission[] {
  const needed = types.flatMap(({ scopes, permissions }) =>
    scopes.flatMap(([scope], group) => {
      const text = permissions[group]?.[0];
      return scope === undefined ? [] : [{ scope, text: text ?? scope }];
    }),
  );
  return [...new Map(needed.map((each) => [each.scope, each])).values()].sort((one, other) =>
    one.scope < other.scope ? -1 : 1,
  );
}
