/** The alternative paths that the contract requires, with their canonical paths. Both paths have the same handlers and bodies. */
export const pathAliases: readonly (readonly [alias: string, canonical: string])[] = [
  ['/api/v1/twitch-events', '/api/v1/platform-events'],
  ['/api/v1/twitch/scopes', '/api/v1/platform/scopes'],
  ['/api/v1/twitch/helix-endpoints', '/api/v1/platform/api-endpoints'],
  ['/ws/twitch-events', '/ws/platform-events'],
  ['/users', '/api/v1/users'],
  ['/api/platform', '/api/v1/platform/call'],
  ['/api/twitch/helix', '/api/v1/platform/call'],
];

/** Returns the canonical form of a URL: resolves aliases, removes one trailing slash from the path, and keeps the query. */
export function canonicalUrl(url: string): string {
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);
  const query = queryAt === -1 ? '' : url.slice(queryAt);
  return resolveAlias(path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path) + query;
}

/** Returns a canonical path, and all other paths that `canonicalUrl` resolves to it. */
export function allPathsOf(path: string): string[] {
  const aliases = pathAliases
    .filter(([, canonical]) => path === canonical || path.startsWith(`${canonical}/`))
    .map(([alias, canonical]) => alias + path.slice(canonical.length));
  return [path, ...aliases].flatMap((each) => [each, `${each}/`]);
}

/** Returns the path of a URL, without its query. */
export function pathOf(url: string): string {
  const queryAt = url.indexOf('?');
  return queryAt === -1 ? url : url.slice(0, queryAt);
}

/** Returns the query of a URL, with all values of repeated parameters. */
export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(queryTextOf(url));
}

/** Returns the query of a URL as it was sent, without `?`. */
export function queryTextOf(url: string): string {
  return url.slice(pathOf(url).length + 1);
}

function resolveAlias(path: string): string {
  for (const [alias, canonical] of pathAliases) {
    if (path === alias || path.startsWith(`${alias}/`)) return canonical + path.slice(alias.length);
  }
  return path;
}
