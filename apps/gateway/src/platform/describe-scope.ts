import { scopes } from '@stream-events/platforms';

const descriptions = new Map(scopes.map(({ scope, description }) => [scope, description]));

/** Returns the description of a scope, or the name of an unknown scope. The platform can add scopes without notice. */
export function describeScope(scope: string): string {
  return descriptions.get(scope) ?? scope;
}
