import { scryptSync } from 'node:crypto';

/** The path of the gateway's route for platform messages. A callback adds the fingerprint of its secret. */
export const webhookPath = '/api/v1/platform-events/webhook';

/** The path of a secret's callback, without the fingerprint that follows. */
export const webhookKeysPath = `${webhookPath}/keys`;

const fingerprintBytes = 4;
const fingerprintPattern = /^[0-9a-f]{8}$/;
const salt = 'stream-events webhook secret';

/**
 * Names a webhook secret in callbacks. Each secret has its own callback, because the platform rejects a second subscription with the same
 * type, condition, and callback. Callbacks are not secret, so scrypt makes guessing the secret as slow as guessing a password. Takes about
 * 40 ms.
 */
export function fingerprintOf(secret: string): string {
  return scryptSync(secret, salt, fingerprintBytes).toString('hex');
}

/** Returns the callback of the subscriptions that a secret signs. */
export function callbackOf(publicUrl: string, fingerprint: string): string {
  return `${publicUrl}${webhookKeysPath}/${fingerprint}`;
}

/**
 * Reads the fingerprint from a callback. Returns undefined when the callback does not belong to this service, and an empty fingerprint for
 * the callback of older versions, which used the same callback for all secrets.
 */
export function readCallback(publicUrl: string, callback: string | null): string | undefined {
  if (callback === publicUrl + webhookPath) return '';
  const start = `${publicUrl}${webhookKeysPath}/`;
  if (!callback?.startsWith(start)) return undefined;
  const fingerprint = callback.slice(start.length);
  return fingerprintPattern.test(fingerprint) ? fingerprint : undefined;
}
