import type { PlatformConnectorConfig } from '../platform-connector.config.js';

export interface AlertWebhook {
  url: string;
  secret: string;
}

/** Injection token for the `AlertWebhook`. Its value is null when no webhook is configured. */
export const ALERT_WEBHOOK = Symbol('ALERT_WEBHOOK');

/**
 * Returns the configured alert webhook, or null when none is configured.
 *
 * @throws Error when only one of the two variables is set
 */
export function toAlertWebhook({
  ALERT_WEBHOOK_URL: url,
  ALERT_WEBHOOK_SECRET: secret,
}: Pick<PlatformConnectorConfig, 'ALERT_WEBHOOK_URL' | 'ALERT_WEBHOOK_SECRET'>): AlertWebhook | null {
  if ((url === undefined) !== (secret === undefined))
    throw new Error('only one of ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET is set: set both or neither');
  return url === undefined || secret === undefined ? null : { url, secret };
}
