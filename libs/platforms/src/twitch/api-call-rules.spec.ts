import fc from 'fast-check';
import { simulatorUrls } from '../platforms.js';
import {
  actorsOf,
  callRefusal,
  deletedConduits,
  findApiEndpoint,
  isAdministrative,
  isSensitive,
  toApiUrl,
} from './api-call-rules.js';
import { apiEndpoints, type ApiEndpoint } from './catalogue/api-endpoints.js';

function endpointOf(name: string): ApiEndpoint {
  const [method = '', path = ''] = name.split(' ');
  const found = findApiEndpoint(method, path);
  if (found.kind !== 'found') throw new Error(`${name} is not in the catalog`);
  return found.endpoint;
}

describe(findApiEndpoint.name, () => {
  it.each(apiEndpoints)('finds $method $endpoint', (endpoint) => {
    expect(findApiEndpoint(endpoint.method, endpoint.endpoint)).toEqual({ kind: 'found', endpoint });
  });

  it('returns the other methods of a path', () => {
    expect(findApiEndpoint('POST', 'users')).toEqual({ kind: 'other_methods', methods: ['GET', 'PUT'] });
  });

  it.each([
    '',
    '/users',
    'users/',
    '//users',
    './users',
    '../helix/users',
    'chat/../users',
    'chat//messages',
    'chat%2Fmessages',
    'chat%2fmessages',
    'chat\\messages',
    '%2e%2e/users',
    'users?id=1',
    'users#',
    'USERS',
    'users%00',
    'https://example.com/users',
    '//example.com/users',
    '@example.com/users',
    '__proto__',
    'constructor',
  ])('finds nothing for %j', (path) => {
    expect(findApiEndpoint('GET', path)).toEqual({ kind: 'unknown' });
  });

  it('finds nothing for any path that is changed in one place', () => {
    const known = new Set(apiEndpoints.map(({ endpoint }) => endpoint));
    const inserted = fc.oneof(
      fc.constantFrom('/', '..', '../', '//', '%2F', '%2e%2e/', '\\', '@', ':', '?', '#', '\0', '\r\n'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.constantFrom(...known), fc.nat(60), inserted, (path, at, text) => {
        const changed = path.slice(0, at) + text + path.slice(at);
        fc.pre(!known.has(changed));

        expect(findApiEndpoint('GET', changed)).toEqual({ kind: 'unknown' });
      }),
    );
  });
});

describe(toApiUrl.name, () => {
  const urls = { ...simulatorUrls('http://127.0.0.1:8100'), subscriptions: 'http://127.0.0.1:9/eventsub' };

  it.each(apiEndpoints)('stays on the platform: $method $endpoint', (endpoint) => {
    const url = new URL(toApiUrl(urls, endpoint, 'after=@evil.example/../..'));

    expect([
      `http://127.0.0.1:8100/helix/${endpoint.endpoint}`,
      `http://127.0.0.1:9/${endpoint.endpoint}`,
    ]).toContain(url.origin + url.pathname);
  });

  it('appends the query as it is', () => {
    const endpoint = endpointOf('GET users');

    expect(toApiUrl(urls, endpoint, 'id=1&id=%32')).toBe('http://127.0.0.1:8100/helix/users?id=1&id=%32');
    expect(toApiUrl(urls, endpoint, '')).toBe('http://127.0.0.1:8100/helix/users');
  });
});

describe(callRefusal.name, () => {
  const refused = apiEndpoints.filter((endpoint) => callRefusal(endpoint) !== null);

  it('refuses changes of subscriptions and conduits except deleting a conduit, and calls that need an Extension’s token', () => {
    expect(
      refused.filter(({ auth }) => auth !== 'ext_jwt').map(({ method, endpoint }) => `${method} ${endpoint}`),
    ).toEqual([
      'POST eventsub/conduits',
      'PATCH eventsub/conduits',
      'PATCH eventsub/conduits/shards',
      'POST eventsub/subscriptions',
      'DELETE eventsub/subscriptions',
    ]);
    expect(refused).toHaveLength(5 + 8);
  });
});

describe(deletedConduits.name, () => {
  it.each([
    ['DELETE eventsub/conduits', 'id=A-1&x=2&id=%20b%20', ['a-1', 'b']],
    ['DELETE eventsub/conduits', '', []],
    ['GET eventsub/conduits/shards', 'conduit_id=1&id=1', []],
    ['DELETE moderation/bans', 'id=1', []],
  ])('%s ?%s: %j', (name, query, expected) => {
    expect(deletedConduits(endpointOf(name), new URLSearchParams(query))).toEqual(expected);
  });
});

describe(isAdministrative.name, () => {
  it('is true for the deletion of a conduit only', () => {
    expect(apiEndpoints.filter(isAdministrative)).toEqual([endpointOf('DELETE eventsub/conduits')]);
  });
});

describe(isSensitive.name, () => {
  it.each([
    ['GET users', false],
    ['GET subscriptions', false],
    ['GET streams/key', true],
    ['POST chat/messages', true],
    ['DELETE moderation/bans', true],
  ])('%s: %j', (name, expected) => {
    expect(isSensitive(endpointOf(name))).toBe(expected);
  });
});

describe(actorsOf.name, () => {
  it.each([
    ['POST chat/messages', '', { broadcaster_id: '1', sender_id: '2', message: '3' }, ['2']],
    ['POST moderation/bans', 'broadcaster_id=1&moderator_id=2', { data: { user_id: '3' } }, ['2']],
    ['POST whispers', 'from_user_id=1&to_user_id=2', {}, ['1']],
    ['POST raids', 'from_broadcaster_id=1&to_broadcaster_id=2', {}, ['1']],
    ['POST polls', '', { broadcaster_id: '1' }, ['1']],
    ['GET channels/followers', 'broadcaster_id=1&user_id=2', {}, ['1']],
    ['GET channels/followed', 'broadcaster_id=1&user_id=2', {}, ['2']],
    ['GET subscriptions/user', 'broadcaster_id=1&user_id=2', {}, ['2']],
    ['POST videos/clips', 'broadcaster_id=1&editor_id=2', {}, ['2']],
    ['GET bits/leaderboard', 'user_id=2', {}, []],
    ['POST clips', 'broadcaster_id=1', {}, []],
    ['PUT users', 'description=hello', {}, []],
    ['POST polls', 'broadcaster_id=', { broadcaster_id: 1 }, []],
    ['POST polls', 'broadcaster_id=1&broadcaster_id=1', { broadcaster_id: '1' }, ['1']],
    ['POST polls', 'broadcaster_id=1', { broadcaster_id: '2' }, ['1', '2']],
  ])('%s ?%s %j: %j', (name, query, body, expected) => {
    expect(actorsOf(endpointOf(name), new URLSearchParams(query), body)).toEqual(expected);
  });
});
