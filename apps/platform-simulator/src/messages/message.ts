import { randomUUID } from 'node:crypto';
import { signMessage } from './signature.js';

export type MessageType = 'notification' | 'webhook_callback_verification' | 'revocation';

/** A message of the platform. A retry sends the same message again. */
export interface Message {
  readonly id: string;
  readonly timestamp: string;
  readonly type: MessageType;
  readonly subscriptionType: string;
  readonly subscriptionVersion: string;
  /** The raw JSON text, which is signed and sent unchanged. */
  readonly body: string;
  /** Null omits the header, which happens only with a fault. */
  readonly signature: string | null;
}

/** A message before a webhook signs it. Every subscription to an event gets its own message. */
export interface Envelope {
  readonly id: string;
  readonly timestamp: string;
  readonly type: MessageType;
  readonly subscription: { readonly type: string; readonly version: string };
  readonly body: string;
}

/** The content of a message. Without an id and a timestamp, the message gets a new id and the current time. */
export interface MessageContent {
  type: MessageType;
  subscription: { type: string; version: string };
  body: string;
  secret: string;
  id?: string | undefined;
  timestamp?: string | undefined;
}

/** Adds a new id and the current time, unless they are given. */
export function createEnvelope({
  type,
  subscription,
  body,
  ...given
}: Omit<MessageContent, 'secret'>): Envelope {
  // Random and never derived from the seed, because receivers remember ids for longer than a simulation runs.
  const id = given.id ?? randomUUID();
  const timestamp = given.timestamp ?? formatTimestamp(new Date());
  return { id, timestamp, type, subscription, body };
}

/** Creates a signed message. */
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

/** The headers of a message (docs/platform-facts.md §1.1). `retry` is the number of earlier attempts. */
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

/** RFC 3339 in UTC with nine fractional digits, as the platform writes it. Digits after the milliseconds are arbitrary. */
export function formatTimestamp(date: Date): string {
  const nanoseconds = String(process.hrtime.bigint() % 1_000_000n).padStart(6, '0');
  return `${date.toISOString().slice(0, -1)}${nanoseconds}Z`;
}
