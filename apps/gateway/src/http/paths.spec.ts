import fc from 'fast-check';
import { canonicalUrl, pathOf } from './paths.js';

const aliases = [
  ['/api/v1/twitch-events', '/api/v1/platform-events'],
  ['/api/v1/twitch/scopes', '/api/v1/platform/scopes'],
  ['/api/v1/twitch/helix-endpoints', '/api/v1/platform/api-endpoints'],
  ['/ws/twitch-events', '/ws/platform-events'],
  ['/users', '/api/v1/users'],
  ['/api/platform', '/api/v1/platform/call'],
  ['/api/twitch/helix', '/api/v1/platform/call'],
] as const;

describe(canonicalUrl.name, () => {
  it.each(aliases)('resolves %s and everything below it', (alias, canonical) => {
    expect(canonicalUrl(alias)).toBe(canonical);
    expect(canonicalUrl(`${alias}/`)).toBe(canonical);
    expect(canonicalUrl(`${alias}/a/b`)).toBe(`${canonical}/a/b`);
    expect(canonicalUrl(`${alias}?a=/b/`)).toBe(`${canonical}?a=/b/`);
  });

  it.each(aliases)('does not resolve paths that only start with the text %s', (alias) => {
    for (const url of [`${alias}x`, `${alias}x/`, `${alias}-x/y`, `/x${alias}`, `${alias}%2Fa`]) {
      expect(canonicalUrl(url)).toBe(url.replace(/\/$/, ''));
    }
  });

  it('does not resolve an alias inside a path', () => {
    expect(canonicalUrl('/api/v1/platform-events/users')).toBe('/api/v1/platform-events/users');
  });

  it('removes one trailing slash, not two', () => {
    expect(canonicalUrl('/api-token-auth/')).toBe('/api-token-auth');
    expect(canonicalUrl('/api-token-auth//')).toBe('/api-token-auth/');
    expect(canonicalUrl('/')).toBe('/');
  });

  it('never changes the query', () => {
    fc.assert(
      fc.property(fc.webPath(), fc.string(), (path, query) => {
        const url = canonicalUrl(`${path}?${query}`);

        expect(url.slice(url.indexOf('?'))).toBe(`?${query}`);
      }),
    );
  });

  it('is idempotent, except for further trailing slashes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...aliases.flat()), fc.webPath(), (start, path) => {
        const url = canonicalUrl((start + path).replace(/\/+$/, ''));

        expect(canonicalUrl(url)).toBe(url);
      }),
    );
  });
});

describe(pathOf.name, () => {
  it.each([
    ['/a/b', '/a/b'],
    ['/a?b=/c?d', '/a'],
    ['?a', ''],
  ])('returns the path of %s', (url, path) => {
    expect(pathOf(url)).toBe(path);
  });
});
