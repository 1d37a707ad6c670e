import type { PlatformStatusReply } from '@stream-events/contracts';
import { toPlatformStatus } from './platform-status.dto.js';

describe(toPlatformStatus.name, () => {
  it('returns no unknown fields, which could be secrets', () => {
    const status: PlatformStatusReply = {
      platform: 'twitch',
      credentials: { present: true, valid: true, tokenExpiresAt: null },
      budget: null,
      circuit: 'closed',
      subscriptions: {},
      cost: null,
      streamers: { monitored: 0, subscribed: 0, polledOnly: 0 },
      transport: { method: null, moved: 0, total: 0, problem: null, conduit: null },
      ...{ callback: null, webhookSecret: null, deliveryGaps: [], alarms: [], lastError: null },
    };
    const leaky = { ...status, credentials: { ...status.credentials, secret: 'hush' }, token: 'hush' };

    expect(JSON.stringify(toPlatformStatus(leaky))).not.toContain('hush');
  });
});
