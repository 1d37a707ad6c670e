import type { PlatformConnectorConfig } from '../platform-connector.config.js';

/** The application on the platform. */
export interface PlatformCredentials {
  clientId: string;
  clientSecret: string;
}

/** Where the platform sends what is subscribed to, and what it signs that with. */
export interface WebhookTarget {
  callback: string;
  secret: string;
}

/** Which platform, where it is, and as whom it is asked. */
export interface PlatformSettings {
  platform: PlatformConnectorConfig['PLATFORM'];
  /** Undefined when none are configured, and nothing can be asked. */
  credentials: PlatformCredentials | undefined;
  apiUrl: string;
  authUrl: string;
  eventsubUrl: string;
  /** Null when the platform cannot be told: nothing is subscribed to then, and streamers are only polled. */
  webhook: WebhookTarget | null;
}

/** Injection token of the settings. */
export const PLATFORM_SETTINGS = Symbol('PLATFORM_SETTINGS');

const defaultUrls = {
  simulator: { api: 'http://127.0.0.1:8100/helix', auth: 'http://127.0.0.1:8100/oauth2' },
  twitch: { api: 'https://api.twitch.tv/helix', auth: 'https://id.twitch.tv/oauth2' },
};

// The simulator takes any application; these are no secret.
const simulatedCredentials = { clientId: 'stream-events', clientSecret: 'of-the-simulation' };

type Config = Pick<
  PlatformConnectorConfig,
  | 'PLATFORM'
  | 'PLATFORM_CLIENT_ID'
  | 'PLATFORM_CLIENT_SECRET'
  | 'PLATFORM_WEBHOOK_SECRET'
  | 'PLATFORM_API_URL'
  | 'PLATFORM_AUTH_URL'
  | 'PLATFORM_EVENTSUB_URL'
  | 'PUBLIC_URL'
>;

/** @throws when only one half of the credentials is configured */
export function toPlatformSettings(config: Config): PlatformSettings {
  const { PLATFORM: platform } = config;
  const urls = defaultUrls[platform === 'none' ? 'simulator' : platform];
  const apiUrl = config.PLATFORM_API_URL ?? urls.api;
  return {
    platform,
    credentials: readCredentials(config),
    apiUrl,
    authUrl: config.PLATFORM_AUTH_URL ?? urls.auth,
    eventsubUrl: config.PLATFORM_EVENTSUB_URL ?? `${apiUrl}/eventsub`,
    webhook: readWebhook(config),
  };
}

function readWebhook({ PLATFORM, PUBLIC_URL, PLATFORM_WEBHOOK_SECRET }: Config): WebhookTarget | null {
  const [secret] = PLATFORM_WEBHOOK_SECRET;
  if (PLATFORM === 'none' || PUBLIC_URL === undefined || secret === undefined) return null;
  return { callback: `${PUBLIC_URL}/api/v1/platform-events/webhook`, secret };
}

function readCredentials(config: Config): PlatformCredentials | undefined {
  const { PLATFORM_CLIENT_ID: clientId, PLATFORM_CLIENT_SECRET: clientSecret } = config;
  if ((clientId === undefined) !== (clientSecret === undefined)) {
    throw new Error('PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET go together: only one of them is set');
  }
  if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
  return config.PLATFORM === 'simulator' ? simulatedCredentials : undefined;
}
