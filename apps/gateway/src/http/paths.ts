/** Path aliases that the API contract requires, each with the canonical path whose handler serves the alias. */
export const pathAliases: readonly (readonly [alias: string, canonical: string])[] = [
  ['/api/v1/twitch-events', '/api/v1/platform-events'],
  ['/api/v1/twitch/scopes', '/api/v1/platform/scopes'],
  ['/api/v1/twitch/helix-endpoints', '/api/v1/platform/api-endpoints'],
  ['/ws/twitch-events', '/ws/platform-events'],
  ['/users', '/api/v1/users'],
  ['/api/platform', '/api/v1/platform/call'],
  ['/api/twitch/helix', '/api/v1/platform/call'],
];

/** The route whose responses are the platform's, byte for byte. */
export const platformCallRoute = '/api/v1/platform/call/*';

/** Resolves a path alias and removes one trailing slash. Keeps the query. */
export function canonicalUrl(url: string): string {
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);
  const query = queryAt === -1 ? '' : url.slice(queryAt);
  return resolveAlias(path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path) + query;
}

/** Returns a canonical path and every other path that `canonicalUrl` maps to it. */
export function allPathsOf(path: string): string[] {
  const aliases = pathAliases
    .filter(([, canonical]) => path === canonical || path.startsWith(`${canonical}/`))
    .map(([alias, canonical]) => alias + path.slice(canonical.length));
  return [path, ...aliases].flatMap((each) => [each, `${each}/`]);
}

export function pathOf(url: string): string {
  const queryAt = url.indexOf('?');
  return queryAt === -1 ? url : url.slice(0, queryAt);
}

/** Parses the query of a URL. Keeps all values of repeated parameters. */
export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(queryTextOf(url));
}

/** The query exactly as sent, without `?`. */
export function queryTextOf(url: string): string {
  return url.slice(pathOf(url).length + 1);
}

function resolveAlias(path: string): string {
  for (const [alias, canonical] of pathAliases) {
    if (path === alias || path.startsWith(`${alias}/`)) return canonical + path.slice(alias.length);
  }
  return path;
}
