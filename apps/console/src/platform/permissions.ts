import type { EventType } from './platform-queries.js';

/** Something that a channel is asked to allow. */
export interface Permission {
  scope: string;
  text: string;
}

/**
 * What these types need, sorted as the platform shows it. Of scopes that serve alike, the first one, which permits the least: the service
 * asks for this one.
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
