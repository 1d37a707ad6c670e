import { randomUUID } from 'node:crypto';
import { signMessage } from './signature.js';

export type MessageType = 'notification' | 'webhook_callback_verification' | 'revocation';

/** A message of the platform, ready to be sent as often as need be: a retry is the same message. */
export interface Message {
  readonly id: string;
  readonly timestamp: string;
  readonly type: MessageType;
  readonly subscriptionType: string;
  readonly subscriptionVersion: string;
  /** The raw JSON text: what is signed is what is sent. */
  readonly body: string;
  /** Null leaves the header out, which only a fault does. */
  readonly signature: string | null;
}

/** What a message is made from; id and timestamp are new ones unless given. */
export interface MessageContent {
  type: MessageType;
  subscription: { type: string; version: string };
  body: string;
  secret: string;
  id?: string | undefined;
  timestamp?: string | undefined;
}

/** Makes a signed message. */
export function createMessage({ type, subscription, body, secret, ...given }: MessageContent): Message {
  // Always a random id, never one from the seed: a receiver remembers ids for longer than a simulation lasts.
  const id = given.id ?? randomUUID();
  const timestamp = given.timestamp ?? formatTimestamp(new Date());
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

/** The headers of a message (docs/platform-facts.md §1.1). `retry` counts the sendings before this one. */
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

/** RFC 3339 in UTC with nine digits, as the platform writes it; those after the milliseconds are made up. */
export function formatTimestamp(date: Date): string {
  const nanoseconds = String(process.hrtime.bigint() % 1_000_000n).padStart(6, '0');
  return `${date.toISOString().slice(0, -1)}${nanoseconds}Z`;
}
