/**
 * Splits a libpq URL with several hosts into one URL per host: `postgres://user:pw@a:5432,b:5432/db` becomes `postgres://user:pw@a:5432/db`
 * and `postgres://user:pw@b:5432/db`. `URL` accepts one host only.
 */
export function splitHosts(url: string): string[] {
  const { before, hosts, after } = parse(url);
  return hosts.includes(',') ? hosts.split(',').map((host) => before + host.trim() + after) : [url];
}

/** Joins URLs that differ only in their hosts. Reverses `splitHosts`. */
export function joinHosts(urls: readonly string[]): string {
  const { before, after } = parse(urls[0] ?? '');
  return before + urls.map((url) => parse(url).hosts).join(',') + after;
}

function parse(url: string): { before: string; hosts: string; after: string } {
  const [, before = '', hosts = '', after = ''] = /^([^:]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  return { before, hosts, after };
}
