import { randomUUID } from 'node:crypto';
import { signMessage } from './signature.js';

export type MessageType = 'notification' | 'webhook_callback_verification' | 'revocation';

/** A signed message. Retries send the same message again. */
export interface Message {
  readonly id: string;
  readonly timestamp: string;
  readonly type: MessageType;
  readonly subscriptionType: string;
  readonly subscriptionVersion: string;
  /** Raw JSON text. It is signed and sent unchanged. */
  readonly body: string;
  /** Null omits the header, which only a fault does. */
  readonly signature: string | null;
}

/** An unsigned message. Each subscription to an event gets its own. */
export interface Envelope {
  readonly id: string;
  readonly timestamp: string;
  readonly type: MessageType;
  readonly subscription: { readonly type: string; readonly version: string };
  readonly body: string;
}

/** Input for a message. Default: a new id and the current time. */
export interface MessageContent {
  type: MessageType;
  subscription: { type: string; version: string };
  body: string;
  secret: string;
  id?: string | undefined;
  timestamp?: string | undefined;
}

export function createEnvelope({
  type,
  subscription,
  body,
  ...given
}: Omit<MessageContent, 'secret'>): Envelope {
  // Random, not derived from the seed: receivers remember ids for longer than a simulation runs.
  const id = given.id ?? randomUUID();
  const timestamp = given.timestamp ?? formatTimestamp(new Date());
  return { id, timestamp, type, subscription, body };
}

export function createMessage({ secret, ...content }: MessageContent): Message {
  const { id, timestamp, type, subscription, body } = createEnvelope(content);
  return {
    id,
    timestamp,
    type,
    subscriptionType: subscription.type,
    subscriptionVersion: subscription.version,
    body,
    signature: signMessage(secret, { id, timestamp, body }),
  };
}

/** The headers of a message (docs/platform-facts.md §1.1). @param retry number of earlier attempts */
export function headersOf(message: Message, retry: number): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'Twitch-Eventsub-Message-Id': message.id,
    'Twitch-Eventsub-Message-Retry': String(retry),
    'Twitch-Eventsub-Message-Type': message.type,
    ...(message.signature !== null && { 'Twitch-Eventsub-Message-Signature': message.signature }),
    'Twitch-Eventsub-Message-Timestamp': message.timestamp,
    'Twitch-Eventsub-Subscription-Type': message.subscriptionType,
    'Twitch-Eventsub-Subscription-Version': message.subscriptionVersion,
  };
}

/** RFC 3339 in UTC with nine fractional digits, as the platform writes it. The last six digits are arbitrary. */
export function formatTimestamp(date: Date): string {
  const nanoseconds = String(process.hrtime.bigint() % 1_000_000n).padStart(6, '0');
  return `${date.toISOString().slice(0, -1)}${nanoseconds}Z`;
}
