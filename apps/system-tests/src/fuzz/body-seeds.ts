const event = {
  event_type: 'raid',
  event_source: 'PlatformSub',
  event_data: { from_broadcaster_user_name: 'a', viewers: 42 },
};

/** A valid body for each route that accepts one. */
export const bodiesByRoute: Readonly<Record<string, object>> = {
  'POST /api/v1/platform-events': event,
  'POST /api/v1/platform-events/stream-offline/test': {
    broadcaster_user_id: '4711',
    broadcaster_user_name: 'M',
    broadcaster_user_login: 'm',
  },
  'POST /api-token-auth': { username: 'nobody', password: 'no password of anybody' },
  'POST /api/v1/sessions': { username: 'nobody', password: 'no password of anybody' },
  'POST /api/v1/users': {
    username: 'fuzzing',
    password: 'short',
    first_name: 'F',
    last_name: 'U',
    email: 'f@example.org',
  },
  'PATCH /api/v1/users/me': { first_name: 'F', last_name: 'U', email: 'f@example.org' },
  'POST /api/v1/users/me/token': { current_password: 'no password of anybody' },
  'POST /api/v1/users/me/password': {
    current_password: 'no password of anybody',
    new_password: 'another password',
  },
  'PATCH /api/v1/users/01999999-9999-7999-8999-999999999999': { role: 'owner', disabled: true },
  'POST /api/v1/tokens': {
    name: 'fuzzing',
    scopes: ['events:read'],
    event_types: ['raid'],
    channel_ids: ['4711'],
    expires: '2099-01-01T00:00:00Z',
  },
  'PATCH /api/v1/tokens/01999999-9999-7999-8999-999999999999': { name: 'fuzzing', scopes: ['events:live'] },
  'POST /api/v1/replays': {
    event_type: 'raid',
    since: '2026-11-21T00:00:00Z',
    until: '2026-11-22T00:00:00Z',
    rate: 1000,
    connection: 'x',
  },
  'POST /api/v1/streamers': { platform_username: 'mira_plays', streaming: false, disabled: true },
  'PUT /api/v1/streamers/01999999-9999-7999-8999-999999999999': {
    platform_username: 'mira_plays',
    streaming: true,
    disabled: false,
  },
  'PATCH /api/v1/streamers/01999999-9999-7999-8999-999999999999': {
    twitch_username: 'mira_plays',
    disabled: false,
  },
  'PUT /api/v1/platform/event-types/channel.follow': { active: true },
  'POST /api/v1/platform/scopes': { scope: 'channel:read:polls', required: true },
  'PUT /api/v1/platform/scopes/01999999-9999-7999-8999-999999999999': {
    scope: 'channel:read:polls',
    required: false,
  },
  'PATCH /api/v1/platform/scopes/01999999-9999-7999-8999-999999999999': { required: true },
  'POST /api/v1/platform/api-endpoints': {
    description: 'd',
    endpoint: '/polls',
    method: 'GET',
    reference_url: 'https://example.org/',
    token_type: 'OA',
    scope: null,
  },
  'PUT /api/v1/platform/api-endpoints/01999999-9999-7999-8999-999999999999': {
    description: 'd',
    endpoint: '/polls',
    method: 'GET',
    reference_url: 'https://example.org/',
    token_type: 'AP',
    scope: null,
  },
  'PATCH /api/v1/platform/api-endpoints/01999999-9999-7999-8999-999999999999': {
    scope: '01999999-9999-7999-8999-999999999999',
  },
  'POST /api/v1/erasures': { platform_user_id: '12826', dry_run: true },
};

/** The valid bodies as JSON text, a form, and a body with escapes and large numbers. */
export const bodySeeds: readonly string[] = [
  ...Object.values(bodiesByRoute).map((body) => JSON.stringify(body)),
  'username=nobody&password=no%20password%20of+anybody',
  '{"event_type":"a","event_source":"b","event_data":{"user\\u005fid":"1","n":1.0e400,"id":9007199254740993,"s":"\\ud83d\\ude00"}}',
];

/** All field names in the bodies. */
export const bodyWords: readonly string[] = [
  ...new Set(Object.values(bodiesByRoute).flatMap((body) => Object.keys(body))),
];
