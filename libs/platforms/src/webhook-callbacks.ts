import { scryptSync } from 'node:crypto';

/** The path of the gateway's route for platform messages. A callback URL appends `/keys/` and the fingerprint of its secret. */
export const webhookPath = '/api/v1/platform-events/webhook';

/** The path of callback URLs, without the fingerprint at the end. */
export const webhookKeysPath = `${webhookPath}/keys`;

const fingerprintBytes = 4;
const fingerprintPattern = /^[0-9a-f]{8}$/;
const salt = 'stream-events webhook secret';

/**
 * Names a webhook secret in callback URLs. Each secret has its own callback, because the platform rejects a second subscription with the
 * same type, condition, and callback. Callback URLs are public, so scrypt makes it slow to guess a secret from its fingerprint. Takes about
 * 40 ms.
 */
export function fingerprintOf(secret: string): string {
  return scryptSync(secret, salt, fingerprintBytes).toString('hex');
}

/** Returns the callback URL for the webhook secret with this fingerprint. */
export function callbackOf(publicUrl: string, fingerprint: string): string {
  return `${publicUrl}${webhookKeysPath}/${fingerprint}`;
}

/** Reads the fingerprint from a callback URL. Returns undefined when the URL does not belong to this service. */
export function readCallback(publicUrl: string, callback: string | null): string | undefined {
  const start = `${publicUrl}${webhookKeysPath}/`;
  if (!callback?.startsWith(start)) return undefined;
  const fingerprint = callback.slice(start.length);
  return fingerprintPattern.test(fingerprint) ? fingerprint : undefined;
}
