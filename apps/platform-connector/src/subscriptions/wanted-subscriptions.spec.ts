import { findEventType } from '@stream-events/platform-catalogue';
import { byPreference } from '../event-types/event-type-rules.js';
import { subscriptionTarget } from './subscription-target.js';
import { wantedSubscriptions } from './wanted-subscriptions.js';

describe('wantedSubscriptions', () => {
  it('wants of each streamer every type, the oldest streamer first, and once what is about the application', () => {
    const types = ['channel.cheer', 'stream.offline', 'stream.online', 'user.authorization.revoke'];
    const active = byPreference(types.map((type) => findEventType(type)!));
    const wanted = wantedSubscriptions(['2', '1', '2'], active, { clientId: 'app' });

    expect(wanted.map(({ type, condition }) => `${type} ${Object.values(condition).join()}`)).toEqual([
      'user.authorization.revoke app',
      'stream.online 2',
      'stream.offline 2',
      'channel.cheer 2',
      'stream.online 1',
      'stream.offline 1',
      'channel.cheer 1',
    ]);
    expect(wanted.map(({ expectedCost }) => expectedCost)).toEqual([1, 1, 1, 0, 1, 1, 0]);
    expect(new Set(wanted.map(({ key }) => key)).size).toBe(7);
  });
});

describe('subscriptionTarget', () => {
  const config = {
    PLATFORM: 'twitch' as const,
    PUBLIC_URL: 'https://events.example',
    PLATFORM_WEBHOOK_SECRET: ['the-first-secret', 'the-second-secret'],
  };

  it('is the callback under the public address, and the first secret', () => {
    expect(subscriptionTarget(config)).toEqual({
      callback: 'https://events.example/api/v1/platform-events/webhook',
      secret: 'the-first-secret',
    });
  });

  it.each([{ PLATFORM: 'none' as const }, { PUBLIC_URL: undefined }, { PLATFORM_WEBHOOK_SECRET: [] }])(
    'is none with %j',
    (missing) => {
      expect(subscriptionTarget({ ...config, ...missing })).toBeNull();
    },
  );
});
