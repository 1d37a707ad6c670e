import type { components } from '@stream-events/client';

export type Scope = components['schemas']['TokenBody']['scopes'][number];

/** Token scopes in words. `isLimitable`: tokens with limits can have this scope. */
export const tokenScopes: readonly { scope: Scope; text: string; isLimitable?: true }[] = [
  { scope: 'events:read', text: 'Read and export stored events', isLimitable: true },
  { scope: 'events:live', text: 'Receive events live', isLimitable: true },
  { scope: 'events:write', text: 'Add events, create test events, and replay events' },
  { scope: 'streamers:read', text: 'Read streamers and their streams', isLimitable: true },
  { scope: 'streamers:write', text: 'Add, change, and delete streamers' },
  { scope: 'reference:read', text: 'Read the reference lists', isLimitable: true },
  { scope: 'reference:write', text: 'Change the reference lists' },
  {
    scope: 'platform:read',
    text: 'Read the state of the platform connection, and get pictures',
    isLimitable: true,
  },
  { scope: 'platform:call', text: 'Call the platform’s API' },
];

const texts = new Map<string, string>(tokenScopes.map(({ scope, text }) => [scope, text]));

/** Newer services can have scopes that are not listed here. Their names are shown unchanged. */
export function textOfScope(scope: string): string {
  return texts.get(scope) ?? scope;
}
