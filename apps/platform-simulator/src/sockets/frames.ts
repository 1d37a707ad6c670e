import { randomUUID } from 'node:crypto';
import { formatTimestamp, type Envelope } from '../messages/message.js';

/** The session in welcome and reconnect frames (docs/platform-facts.md §2). */
export interface SessionView {
  id: string;
  status: 'connected' | 'reconnecting';
  keepalive_timeout_seconds: number | null;
  reconnect_url: string | null;
  connected_at: string;
}

/** A frame about the connection, not about an event. A keepalive frame has no session. */
export function composeSessionFrame(
  messageType: 'session_welcome' | 'session_reconnect' | 'session_keepalive',
  session?: SessionView,
): string {
  const metadata = {
    message_id: randomUUID(),
    message_type: messageType,
    message_timestamp: formatTimestamp(new Date()),
  };
  return JSON.stringify({ metadata, payload: session ? { session } : {} });
}

/** The frame of a notification or revocation. The payload is the raw JSON text that a webhook would get as its body. */
export function composeFrame({ id, timestamp, type, subscription, body }: Envelope): string {
  const metadata = {
    message_id: id,
    message_type: type,
    message_timestamp: timestamp,
    subscription_type: subscription.type,
    subscription_version: subscription.version,
  };
  return `{"metadata":${JSON.stringify(metadata)},"payload":${body}}`;
}
