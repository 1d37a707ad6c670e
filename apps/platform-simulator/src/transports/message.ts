import { createHmac, randomUUID } from 'node:crypto';

/** An unsigned message. Each subscription to an event gets its own. */
export interface Envelope {
  readonly id: string;
  readonly timestamp: string;
  readonly type: 'notification' | 'webhook_callback_verification' | 'revocation';
  readonly subscription: { readonly type: string; readonly version: string };
  /** Raw JSON text. It is signed and sent unchanged. */
  readonly body: string;
}

/** A signed message. Retries send the same message again. */
export interface Message extends Envelope {
  /** Null omits the header, which only a fault does. */
  readonly signature: string | null;
}

/** Default: a new id and the current time. */
export function createEnvelope({
  type,
  subscription,
  body,
  ...given
}: Pick<Envelope, 'type' | 'subscription' | 'body'> & {
  id?: string | undefined;
  timestamp?: string | undefined;
}): Envelope {
  // Random, not derived from the seed: receivers remember ids for longer than a simulation runs.
  const id = given.id ?? randomUUID();
  const timestamp = given.timestamp ?? formatTimestamp(new Date());
  return { id, timestamp, type, subscription, body };
}

/** Signs a message as the platform does: HMAC-SHA256 over id, timestamp, and raw body (FACTS.md §1.2). */
export function signMessage(message: Envelope, secret: string): Message {
  const { id, timestamp, body } = message;
  const hmac = createHmac('sha256', secret).update(id).update(timestamp).update(body);
  return { ...message, signature: `sha256=${hmac.digest('hex')}` };
}

/** The headers of a message (FACTS.md §1.1). @param retry number of earlier attempts */
export function headersOf(message: Message, retry: number): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'Twitch-Eventsub-Message-Id': message.id,
    'Twitch-Eventsub-Message-Retry': String(retry),
    'Twitch-Eventsub-Message-Type': message.type,
    ...(message.signature !== null && { 'Twitch-Eventsub-Message-Signature': message.signature }),
    'Twitch-Eventsub-Message-Timestamp': message.timestamp,
    'Twitch-Eventsub-Subscription-Type': message.subscription.type,
    'Twitch-Eventsub-Subscription-Version': message.subscription.version,
  };
}

/** RFC 3339 in UTC with nine fractional digits, as the platform writes it. The last six digits are arbitrary. */
export function formatTimestamp(date: Date): string {
  const nanoseconds = String(process.hrtime.bigint() % 1_000_000n).padStart(6, '0');
  return `${date.toISOString().slice(0, -1)}${nanoseconds}Z`;
}

/** Kinds of invalid messages. Receivers must reject them. */
export const faults = [
  'bad_signature',
  'short_signature',
  'missing_signature',
  'changed_body',
  'old_timestamp',
  'wrong_secret',
  'type_mismatch',
] as const;
export type Fault = (typeof faults)[number];

// Just above 10 minutes, after which receivers should reject a message (FACTS.md §1.3).
const oldTimestampAgeMs = 11 * 60 * 1_000;

/** Signs a message and makes it invalid in exactly one way. */
export function createFaultyMessage(envelope: Envelope, secret: string, fault: Fault): Message {
  const message = signMessage(envelope, secret);
  const { signature, subscription, body } = message;
  switch (fault) {
    case 'bad_signature':
      return { ...message, signature: changeLastDigit(signature ?? '') };
    case 'short_signature':
      return { ...message, signature: signature?.slice(0, 'sha256='.length + 10) ?? '' };
    case 'missing_signature':
      return { ...message, signature: null };
    case 'changed_body':
      // Keep the body valid JSON, so that only the signature reveals the change.
      return { ...message, body: body.replace('{', '{"changed_on_the_way":true,') };
    case 'old_timestamp': {
      const timestamp = formatTimestamp(new Date(Date.now() - oldTimestampAgeMs));
      return signMessage({ ...envelope, timestamp }, secret);
    }
    case 'wrong_secret':
      return signMessage(envelope, `not-${secret}`);
    case 'type_mismatch':
      // The signature stays valid, because it does not cover the type header.
      return { ...message, subscription: { ...subscription, type: otherType(subscription.type) } };
  }
}

function changeLastDigit(signature: string): string {
  return signature.slice(0, -1) + (signature.endsWith('0') ? '1' : '0');
}

function otherType(type: string): string {
  return type === 'channel.follow' ? 'channel.cheer' : 'channel.follow';
}
