import {
  callbackOf,
  fingerprintOf,
  platforms,
  readPlatformUrls,
  type Application,
  type PlatformDefinition,
  type PlatformName,
  type platformVariables,
  type PlatformUrls,
  type TransportMethod,
} from '@stream-events/platforms';
import type { PlatformConnectorConfig } from '../platform-connector.config.js';

/** The address to which the platform sends its messages, and the secret that signs them. */
export interface WebhookTarget {
  publicUrl: string;
  /** The callback URL for new subscriptions. */
  callback: string;
  /** The secret for new subscriptions: the first configured one. */
  secret: string;
}

/** The platform that the connector calls, with its addresses and the application's credentials. */
export interface PlatformSettings {
  platform: PlatformName;
  definition: PlatformDefinition;
  /** Undefined without credentials; no call is then possible. Without a client secret, every call needs a user's token. */
  credentials: Application | undefined;
  urls: PlatformUrls;
  /** The transport for new subscriptions. Null when the configuration allows none; the service then has no subscriptions. */
  transport: TransportMethod | null;
  /** Null when the public URL or the webhook secret is not configured, or `PLATFORM` is `none`. */
  webhook: WebhookTarget | null;
  /** The fingerprints of all configured webhook secrets, in the configured order. */
  webhookFingerprints: readonly string[];
}

export const PLATFORM = Symbol('PLATFORM');

export const PLATFORM_SETTINGS = Symbol('PLATFORM_SETTINGS');

// The simulator accepts any application, so these credentials need no protection.
const simulatedCredentials = { clientId: 'stream-events', clientSecret: 'of-the-simulation' };

type Config = Pick<
  PlatformConnectorConfig,
  | 'PLATFORM_CLIENT_ID'
  | 'PLATFORM_CLIENT_SECRET'
  | 'PLATFORM_TRANSPORT'
  | 'PLATFORM_WEBHOOK_SECRET'
  | keyof typeof platformVariables
  | 'PUBLIC_URL'
>;

/**
 * Derives the settings from the configuration.
 *
 * @throws Error when a client secret is set without a client id, or `PLATFORM_TRANSPORT` needs a variable that is not set
 */
export function toPlatformSettings(config: Config): PlatformSettings {
  const { PLATFORM: platform } = config;
  const credentials = readCredentials(config);
  const webhookFingerprints = config.PLATFORM_WEBHOOK_SECRET.map(fingerprintOf);
  const webhook = readWebhook(config, webhookFingerprints);
  return {
    platform,
    definition: platforms[platform],
    credentials,
    urls: readPlatformUrls(config),
    transport: chooseTransport(config, { webhook, credentials }),
    webhook,
    webhookFingerprints,
  };
}

function readWebhook(
  { PLATFORM, PUBLIC_URL, PLATFORM_WEBHOOK_SECRET }: Config,
  fingerprints: readonly string[],
): WebhookTarget | null {
  const [secret] = PLATFORM_WEBHOOK_SECRET;
  const [fingerprint] = fingerprints;
  if (PLATFORM === 'none' || PUBLIC_URL === undefined || secret === undefined || fingerprint === undefined)
    return null;
  return { publicUrl: PUBLIC_URL, callback: callbackOf(PUBLIC_URL, fingerprint), secret };
}

function chooseTransport(
  { PLATFORM, PLATFORM_TRANSPORT: wanted }: Config,
  { webhook, credentials }: Pick<PlatformSettings, 'webhook' | 'credentials'>,
): TransportMethod | null {
  if (PLATFORM === 'none') return null;
  const hasSecret = credentials?.clientSecret !== undefined;
  if (wanted === 'webhook' && !webhook)
    throw new Error('PLATFORM_TRANSPORT is webhook: set PUBLIC_URL and PLATFORM_WEBHOOK_SECRET');
  if ((wanted === 'webhook' || wanted === 'conduit') && credentials && !hasSecret)
    throw new Error(
      `PLATFORM_TRANSPORT is ${wanted}: set PLATFORM_CLIENT_SECRET, or set PLATFORM_TRANSPORT=websocket`,
    );
  if (wanted === 'conduit' && !credentials)
    throw new Error('PLATFORM_TRANSPORT is conduit: set PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET');
  if (wanted !== 'auto') return wanted;
  if (credentials && !hasSecret) return 'websocket';
  if (webhook) return 'webhook';
  return credentials ? 'conduit' : null;
}

function readCredentials(config: Config): Application | undefined {
  const { PLATFORM_CLIENT_ID: clientId, PLATFORM_CLIENT_SECRET: clientSecret } = config;
  if (clientId === undefined && clientSecret !== undefined)
    throw new Error('PLATFORM_CLIENT_SECRET is set without PLATFORM_CLIENT_ID: set both');
  if (clientId !== undefined) return { clientId, clientSecret };
  return config.PLATFORM === 'simulator' ? simulatedCredentials : undefined;
}
