import { scopes } from '@stream-events/platforms';

const descriptions = new Map(scopes.map(({ scope, description }) => [scope, description]));

/** What a scope of the platform permits, in words. The platform may add scopes without notice. */
export function describeScope(scope: string): string {
  return descriptions.get(scope) ?? scope;
}
