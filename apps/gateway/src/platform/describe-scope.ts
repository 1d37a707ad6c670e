import { scopes } from '@stream-events/platforms';

const descriptions = new Map(scopes.map(({ scope, description }) => [scope, description]));

/** Returns the description of a scope. For an unknown scope, returns the name of the scope, because the platform may add scopes without notice. */
export function describeScope(scope: string): string {
  return descriptions.get(scope) ?? scope;
}
