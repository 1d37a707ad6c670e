import { readConsentEvent } from './consent-event.external.js';

const record = {
  event_id: 'e',
  event_type: 'user-authorization-revoke',
  origin: 'platform',
  event_data: { client_id: 'app', user_id: '77', user_login: null },
};

describe('readConsentEvent', () => {
  it('reads who has given or withdrawn consent', () => {
    expect(readConsentEvent(JSON.stringify(record))).toEqual({ change: 'revoked', userId: '77' });
    expect(readConsentEvent(JSON.stringify({ ...record, event_type: 'user-authorization-grant' }))).toEqual({
      change: 'granted',
      userId: '77',
    });
  });

  it.each([
    ['a client added', { event_id: null }],
    ['is a test event', { origin: 'test' }],
    ['has another type', { event_type: 'toString' }],
    ['names no user', { event_data: { user_id: 77 } }],
    ['has a user that cannot be stored', { event_data: { user_id: 'a\u0000' } }],
    ['has no data', { event_data: null }],
  ])('ignores an event that %s', (_name, overrides) => {
    expect(readConsentEvent(JSON.stringify({ ...record, ...overrides }))).toBeUndefined();
  });

  it.each(['', '{', 'null', '[]'])('ignores the message %j', (payload) => {
    expect(readConsentEvent(payload)).toBeUndefined();
  });
});
