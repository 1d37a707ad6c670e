import { callbackOf, fingerprintOf, readCallback } from './webhook-callbacks.js';

const publicUrl = 'https://events.example';

describe(fingerprintOf.name, () => {
  // A different fingerprint would orphan all existing subscriptions.
  it('stays the same in every version', () => {
    expect(fingerprintOf('a webhook secret')).toBe('75225d87');
    expect(fingerprintOf('another webhook secret')).not.toBe(fingerprintOf('a webhook secret'));
  });
});

describe(readCallback.name, () => {
  it('reads the callback of a secret', () => {
    expect(readCallback(publicUrl, callbackOf(publicUrl, '0badcafe'))).toBe('0badcafe');
  });

  it.each([
    null,
    '',
    'https://other.example/api/v1/platform-events/webhook',
    `${publicUrl}/api/v1/platform-events/webhook`,
    `${publicUrl}/api/v1/platform-events/webhook/keys/`,
    `${publicUrl}/api/v1/platform-events/webhook/keys/0badcafe/`,
    `${publicUrl}/api/v1/platform-events/webhook/keys/0BADCAFE`,
    `${publicUrl}/api/v1/platform-events/stream-online/webhook`,
  ])('does not take %j for a callback of the service', (callback) => {
    expect(readCallback(publicUrl, callback)).toBeUndefined();
  });
});
