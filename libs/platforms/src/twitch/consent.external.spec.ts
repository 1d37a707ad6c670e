import { PlatformCallError } from '../platform-call-error.js';
import { twitchConsent } from './consent.external.js';

const rejected = (status: number, message: string) => ({ status, headers: {}, body: { status, message } });
const issued = {
  status: 200,
  headers: {},
  body: {
    access_token: 'a',
    refresh_token: 'r',
    expires_in: 14_400,
    scope: ['bits:read'],
    token_type: 'bearer',
  },
};
const tokens = { accessToken: 'a', refreshToken: 'r' };

describe('consent of Twitch’s users', () => {
  it.each([
    [issued, { kind: 'issued', tokens }],
    [rejected(400, 'authorization_pending'), { kind: 'pending' }],
    [rejected(400, 'invalid device code'), { kind: 'doubtful' }],
    [rejected(400, 'invalid grant type'), { kind: 'ended', message: 'invalid grant type' }],
  ])('reads the reply about a device code: %j', (reply, expected) => {
    expect(twitchConsent.readDeviceToken(reply)).toEqual(expected);
  });

  it.each([
    [issued, { kind: 'issued', tokens }],
    [rejected(400, 'Invalid refresh token'), { kind: 'refused', message: 'Invalid refresh token' }],
    [rejected(401, 'Invalid refresh token'), { kind: 'refused', message: 'Invalid refresh token' }],
  ])('reads the reply to a refresh: %j', (reply, expected) => {
    expect(twitchConsent.readRefresh(reply)).toEqual(expected);
  });

  it.each([
    rejected(400, 'missing client secret'),
    rejected(400, 'invalid client'),
    rejected(403, 'invalid client secret'),
  ])(
    'throws when the platform rejects the application, and does not count the token or the code as refused: %j',
    (reply) => {
      for (const read of ['readRefresh', 'readCodeTokens'] as const) {
        expect(() => twitchConsent[read](reply)).toThrow(PlatformCallError);
        expect(() => twitchConsent[read](reply)).toThrow(
          'Check PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET',
        );
      }
    },
  );
});
