/** Paths of the contract's branded spelling and their canonical, neutral form: same handlers, same bodies. */
const aliases: readonly (readonly [alias: string, canonical: string])[] = [
  ['/api/v1/twitch-events', '/api/v1/platform-events'],
  ['/api/v1/twitch/scopes', '/api/v1/platform/scopes'],
  ['/api/v1/twitch/helix-endpoints', '/api/v1/platform/api-endpoints'],
  ['/ws/twitch-events', '/ws/platform-events'],
  ['/users', '/api/v1/users'],
];

/** The URL that is routed: aliases resolved, one trailing slash of the path dropped, the query untouched. */
export function canonicalUrl(url: string): string {
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);
  const query = queryAt === -1 ? '' : url.slice(queryAt);
  return resolveAlias(path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path) + query;
}

/** The path of a URL, without its query. */
export function pathOf(url: string): string {
  const queryAt = url.indexOf('?');
  return queryAt === -1 ? url : url.slice(0, queryAt);
}

/** The query of a URL, with every value of repeated parameters. */
export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.slice(pathOf(url).length));
}

function resolveAlias(path: string): string {
  for (const [alias, canonical] of aliases) {
    if (path === alias || path.startsWith(`${alias}/`)) return canonical + path.slice(alias.length);
  }
  return path;
}
