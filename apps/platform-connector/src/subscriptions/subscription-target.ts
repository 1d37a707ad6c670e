import type { PlatformConnectorConfig } from '../platform-connector.config.js';

/** Where the platform sends what is subscribed to, and what it signs that with. */
export interface SubscriptionTarget {
  callback: string;
  secret: string;
}

/** Null when the platform cannot be told: nothing is subscribed to then, and streamers are only polled. */
export function subscriptionTarget(
  config: Pick<PlatformConnectorConfig, 'PLATFORM' | 'PUBLIC_URL' | 'PLATFORM_WEBHOOK_SECRET'>,
): SubscriptionTarget | null {
  const { PLATFORM, PUBLIC_URL, PLATFORM_WEBHOOK_SECRET } = config;
  const secret = PLATFORM_WEBHOOK_SECRET[0];
  if (PLATFORM === 'none' || PUBLIC_URL === undefined || secret === undefined) return null;
  return { callback: `${PUBLIC_URL}/api/v1/platform-events/webhook`, secret };
}
