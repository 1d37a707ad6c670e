import {
  callbackOf,
  fingerprintOf,
  platforms,
  readPlatformUrls,
  type PlatformCredentials,
  type PlatformDefinition,
  type PlatformName,
  type platformVariables,
  type PlatformUrls,
} from '@stream-events/platforms';
import type { PlatformConnectorConfig } from '../platform-connector.config.js';

/** Where the platform sends its messages, and the secrets that sign them. */
export interface WebhookTarget {
  publicUrl: string;
  /** The callback of new subscriptions. */
  callback: string;
  /** The secret of new subscriptions: the first one of those that are configured. */
  secret: string;
  /** The fingerprints of all configured secrets, in their order. */
  fingerprints: readonly string[];
}

/** Which platform the connector calls, at which addresses, and as which application. */
export interface PlatformSettings {
  platform: PlatformName;
  definition: PlatformDefinition;
  /** Undefined when no credentials are configured. Then no call is possible. */
  credentials: PlatformCredentials | undefined;
  urls: PlatformUrls;
  /** Null without a public URL or a secret. Then there are no subscriptions, and streamers are only polled. */
  webhook: WebhookTarget | null;
}

/** Injection token of the `OutboundPlatform`. */
export const PLATFORM = Symbol('PLATFORM');

/** Injection token of the settings. */
export const PLATFORM_SETTINGS = Symbol('PLATFORM_SETTINGS');

// The simulator accepts any application, so these are not secret.
const simulatedCredentials = { clientId: 'stream-events', clientSecret: 'of-the-simulation' };

type Config = Pick<
  PlatformConnectorConfig,
  | 'PLATFORM_CLIENT_ID'
  | 'PLATFORM_CLIENT_SECRET'
  | 'PLATFORM_WEBHOOK_SECRET'
  | keyof typeof platformVariables
  | 'PUBLIC_URL'
>;

/** @throws Error when only one of the two credentials is configured */
export function toPlatformSettings(config: Config): PlatformSettings {
  const { PLATFORM: platform } = config;
  return {
    platform,
    definition: platforms[platform],
    credentials: readCredentials(config),
    urls: readPlatformUrls(config),
    webhook: readWebhook(config),
  };
}

function readWebhook({ PLATFORM, PUBLIC_URL, PLATFORM_WEBHOOK_SECRET }: Config): WebhookTarget | null {
  const [secret] = PLATFORM_WEBHOOK_SECRET;
  if (PLATFORM === 'none' || PUBLIC_URL === undefined || secret === undefined) return null;
  const fingerprints = PLATFORM_WEBHOOK_SECRET.map(fingerprintOf);
  const callback = callbackOf(PUBLIC_URL, fingerprints[0] ?? '');
  return { publicUrl: PUBLIC_URL, callback, secret, fingerprints };
}

function readCredentials(config: Config): PlatformCredentials | undefined {
  const { PLATFORM_CLIENT_ID: clientId, PLATFORM_CLIENT_SECRET: clientSecret } = config;
  if ((clientId === undefined) !== (clientSecret === undefined)) {
    throw new Error('only one of PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET is set: set both or neither');
  }
  if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
  return config.PLATFORM === 'simulator' ? simulatedCredentials : undefined;
}
