import { createHmac } from 'node:crypto';

/** The signature covers these parts, concatenated in this order. */
export interface SignedParts {
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
}

/** Signs a message as the platform does: HMAC-SHA256 over id, timestamp, and raw body (docs/platform-facts.md §1.2). */
export function signMessage(secret: string, { id, timestamp, body }: SignedParts): string {
  return `sha256=${createHmac('sha256', secret).update(id).update(timestamp).update(body).digest('hex')}`;
}
