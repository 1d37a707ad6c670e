import { scopes } from '@stream-events/platforms';

const descriptions = new Map(scopes.map(({ scope, description }) => [scope, description]));

/** Returns what a scope permits, in words. Returns the name of an unknown scope, because the platform may add scopes without notice. */
export function describeScope(scope: string): string {
  return descriptions.get(scope) ?? scope;
}
