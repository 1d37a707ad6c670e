import type { JsonObject, JsonObjectText } from '@stream-events/contracts';
import type { DisabledShard } from './outbound-platform.js';

/** The headers of a webhook message. An absent header becomes an empty text. Without an id, timestamp, or signature, verification fails. */
export interface MessageHeaders {
  messageId: string;
  timestamp: string;
  signature: string;
  type: string;
}

/** The parts of a webhook message that the signature covers, and the signature. */
export interface SignedMessage extends Omit<MessageHeaders, 'type'> {
  /** The raw bytes. Parsing and reprinting the JSON would invalidate the signature. */
  body: Uint8Array;
}

/** A secret that is prepared for HMAC (RFC 2104): its padded block, XORed with the inner pad and with the outer pad. */
export interface SigningKey {
  inner: Uint8Array;
  outer: Uint8Array;
}

/** What a verified message says. `eventType` is the service's spelling (`stream-offline`), except in a challenge. */
export type PlatformMessage =
  /** `eventType` is the platform's spelling (`stream.offline`); empty when the message does not name its subscription's type. */
  | { kind: 'challenge'; challenge: string; eventType: string }
  /** `eventData` is the JSON text exactly as the platform sent it; `data` is the parsed object. */
  | {
      kind: 'notification';
      eventType: string;
      eventData: string;
      data: JsonObject;
      /** The key of the subscription (see `subscriptionKey`). Null when the message does not describe the subscription. */
      subscription: string | null;
    }
  | { kind: 'revocation'; eventType: string; eventData: string; data: JsonObject }
  /** A kind of message that this version does not know. Platforms add kinds over time. */
  | { kind: 'other' };

/** A platform message that becomes an event. */
export type EventMessage = Extract<PlatformMessage, { kind: 'notification' | 'revocation' }>;

/** A message from a socket. It has no signature, because TLS authenticates the sender. */
export interface SocketMessage {
  /** The platform's message id. A redelivery of the message has the same id. */
  id: string;
  type: string;
  /** Milliseconds since 1970, by the platform's clock; null when the message contains no valid time. */
  sentAt: number | null;
  /** The same JSON that a webhook message would have as its body. */
  content: JsonObjectText;
}

export type SocketFrame =
  /** The platform opened a session on this socket, or moved a session to it from another socket. */
  | { kind: 'welcome'; session: SocketSession }
  /** The connection works, but there is no message. */
  | { kind: 'keep_alive' }
  /** The client must continue the session at this URL. The URL works only once. */
  | { kind: 'reconnect'; url: string }
  | { kind: 'message'; message: SocketMessage };

export interface SocketSession {
  /** Identifies the session in subscriptions and shards. */
  id: string;
  /** The longest time between two frames from the platform, in milliseconds. */
  keepAliveMs: number;
}

/** Verifies and parses a platform's messages. Most methods run for every message, so they must not allocate memory needlessly. */
export interface InboundPlatform {
  /** The header names with the platform's capitalization, for the API description. */
  readonly headerNames: Readonly<MessageHeaders>;
  readHeaders(headers: Record<string, string | string[] | undefined>): MessageHeaders;
  /** Prepares the signing keys. Call this once per secret, not for every message. */
  toSigningKeys(secrets: readonly string[]): SigningKey[];
  /** Whether a message was signed with one of the keys. Compares in constant time. */
  isSignatureValid(message: SignedMessage, keys: readonly SigningKey[]): boolean;
  /** Whether a timestamp is recent enough; `now` is milliseconds since 1970. */
  isTimestampFresh(timestamp: string, now: number): boolean;
  /**
   * Parses the body of a verified message. Ignores unknown fields, because platforms add fields without notice.
   *
   * @throws ServiceError `invalid` when the body does not match its message type
   */
  readMessage(type: string, body: Uint8Array): PlatformMessage;
  /**
   * Reads a frame of a socket. Ignores unknown fields.
   *
   * @throws ServiceError `invalid` when the frame does not match its type
   */
  readFrame(bytes: Uint8Array): SocketFrame;
  /**
   * Parses the content of a socket's message, as `readMessage` parses the body of a webhook message.
   *
   * @throws ServiceError `invalid` when the content does not match its message type
   */
  readContent(type: string, content: JsonObjectText): PlatformMessage;
  /** The meanings of the socket close codes, for logs. The platform may add codes without notice. */
  readonly closeReasons: Readonly<Record<number, string>>;
  /** Reads the report about a lost shard in a socket's message. Returns undefined for any other message. */
  readDisabledShard(content: JsonObjectText): DisabledShard | undefined;
  /** Converts a platform's subscription type to the service's event type: `stream.offline` → `stream-offline`. */
  toEventType(subscriptionType: string): string;
}
