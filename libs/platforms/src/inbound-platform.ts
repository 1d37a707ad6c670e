import type { JsonObject, JsonObjectText } from '@stream-events/contracts';
import type { DisabledShard } from './outbound-platform.js';

/** The headers of a webhook message. An absent or repeated header is an empty text, which fails verification. */
export interface MessageHeaders {
  messageId: string;
  timestamp: string;
  signature: string;
  type: string;
}

/** The signed parts of a webhook message. */
export interface SignedMessage extends Omit<MessageHeaders, 'type'> {
  /** The raw bytes. Parsing and printing them again would invalidate the signature. */
  body: Uint8Array;
}

/** A secret, prepared for HMAC: its block, combined with the inner and the outer pad (RFC 2104). */
export interface SigningKey {
  inner: Uint8Array;
  outer: Uint8Array;
}

/** The subscription that a notification belongs to. */
export interface NotifyingSubscription {
  /** See `subscriptionKey`. */
  key: string;
  /** Milliseconds since 1970, by the platform's clock. */
  createdAt: number;
}

/** The content of a verified message. `eventType` is the service's spelling: `stream-offline`. */
export type PlatformMessage =
  | { kind: 'challenge'; challenge: string; eventType: string }
  /** `eventData` is the JSON text of an object, exactly as sent; `data` is the object. */
  | {
      kind: 'notification';
      eventType: string;
      eventData: string;
      data: JsonObject;
      /** Null when the message does not describe its subscription. */
      subscription: NotifyingSubscription | null;
    }
  | { kind: 'revocation'; eventType: string; eventData: string; data: JsonObject }
  /** A kind of message that this version does not know. Platforms add new kinds. */
  | { kind: 'other' };

/** A platform message that becomes an event. */
export type EventMessage = Extract<PlatformMessage, { kind: 'notification' | 'revocation' }>;

/** A message that arrived over a socket. The message has no signature, because TLS authenticates the sender. */
export interface SocketMessage {
  /** The platform's message id. Stays the same when the platform redelivers the message. */
  id: string;
  /** The type of the message, for `readContent`. */
  type: string;
  /** Milliseconds since 1970, by the platform's clock; null when the message contains no valid time. */
  sentAt: number | null;
  /** The content, which is the body in a webhook message. */
  content: JsonObjectText;
}

/** A frame of a socket. */
export type SocketFrame =
  /** The platform has opened a session over this socket, or continues a session from another socket. */
  | { kind: 'welcome'; session: SocketSession }
  /** A keep-alive: the connection works, but there is no message. */
  | { kind: 'keep_alive' }
  /** The client must continue the session at this URL, which can be used only once. */
  | { kind: 'reconnect'; url: string }
  | { kind: 'message'; message: SocketMessage };

/** A session of a socket. */
export interface SocketSession {
  /** Identifies the session in subscriptions and shards. */
  id: string;
  /** The platform sends a frame at least this often, in milliseconds. */
  keepAliveMs: number;
}

/** Receives a platform's messages. The methods run for every message, so they must not allocate memory unnecessarily. */
export interface InboundPlatform {
  /** The names of the headers as the platform writes them, for the API description. */
  readonly headerNames: Readonly<MessageHeaders>;
  readHeaders(headers: Record<string, string | string[] | undefined>): MessageHeaders;
  /** Prepares the signing keys of the secrets. Call this once, not for every message. */
  toSigningKeys(secrets: readonly string[]): SigningKey[];
  /** Whether a message was signed with one of the keys. Compares in constant time. */
  isSignatureValid(message: SignedMessage, keys: readonly SigningKey[]): boolean;
  /** Whether a timestamp is recent enough; `now` is milliseconds since 1970. */
  isTimestampFresh(timestamp: string, now: number): boolean;
  /**
   * Parses the body of a verified message. Ignores unknown fields: platforms add fields without notice.
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
   * Reads the content of a socket's message, like `readMessage` for the body of a webhook message.
   *
   * @throws ServiceError `invalid` when the content does not match its message type
   */
  readContent(type: string, content: JsonObjectText): PlatformMessage;
  /** The meanings of the sockets' close codes, for logs. The platform may add codes without notice. */
  readonly closeReasons: Readonly<Record<number, string>>;
  /** Reads a report about a lost shard from the content of a socket's message; undefined for any other message. */
  readDisabledShard(content: JsonObjectText): DisabledShard | undefined;
  /** The service's event type of a platform's subscription type: `stream.offline` → `stream-offline`. */
  toEventType(subscriptionType: string): string;
}
