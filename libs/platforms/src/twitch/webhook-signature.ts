import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { SignedMessage } from '../inbound-platform.js';

// Older messages are replay attacks (docs/platform-facts.md §1.3). The same limit applies to clocks that run ahead.
const maxAgeMs = 10 * 60_000;

/** Makes the keys of the secrets. */
export function toSigningKeys(secrets: readonly string[]): KeyObject[] {
  return secrets.map((secret) => createSecretKey(secret, 'utf8'));
}

/**
 * Whether a message was signed with one of the keys. The signature is `sha256=` and the lower-case hexadecimal HMAC-SHA256
 * over message id, timestamp, and body, joined without a separator.
 */
export function isSignatureValid(message: SignedMessage, keys: readonly KeyObject[]): boolean {
  const given = Buffer.from(message.signature);
  let isValid = false;
  for (const key of keys) {
    const hmac = createHmac('sha256', key)
      .update(message.messageId)
      .update(message.timestamp)
      .update(message.body);
    const expected = Buffer.from(`sha256=${hmac.digest('hex')}`);
    if (given.length === expected.length && timingSafeEqual(given, expected)) isValid = true;
  }
  return isValid;
}

/** Whether a timestamp (RFC 3339, up to nanoseconds) is within 10 minutes of now. */
export function isTimestampFresh(timestamp: string, now: number): boolean {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/.test(timestamp)) return false;
  return Math.abs(now - Date.parse(timestamp)) <= maxAgeMs;
}
