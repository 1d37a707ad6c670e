import type { JsonObject } from '@stream-events/contracts';

/** The headers of a webhook message. An absent or repeated header is an empty text, which fails verification. */
export interface MessageHeaders {
  messageId: string;
  timestamp: string;
  signature: string;
  type: string;
}

/** The signed parts of a webhook message. */
export interface SignedMessage extends Omit<MessageHeaders, 'type'> {
  /** The raw bytes: parsing and printing them again would break the signature. */
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
  /** A kind of message that this version does not know, because platforms add new kinds. */
  | { kind: 'other' };

/** Receives a platform's messages. The methods run for every message, so they must not allocate unnecessarily. */
export interface InboundPlatform {
  /** The names of the headers as the platform writes them, for the API description. */
  readonly headerNames: Readonly<MessageHeaders>;
  readHeaders(headers: Record<string, string | string[] | undefined>): MessageHeaders;
  /** Makes the keys once, instead of for every message. */
  toSigningKeys(secrets: readonly string[]): SigningKey[];
  /** Whether a message was signed with one of the keys. Compares in constant time. */
  isSignatureValid(message: SignedMessage, keys: readonly SigningKey[]): boolean;
  /** Whether a timestamp is recent enough; `now` is milliseconds since 1970. */
  isTimestampFresh(timestamp: string, now: number): boolean;
  /**
   * Parses the body of a verified message. Ignores unknown fields: platforms add fields without notice.
   *
   * @throws ServiceError `invalid` when the body is not what its message type promises
   */
  readMessage(type: string, body: Uint8Array): PlatformMessage;
  /** The service's event type of a platform's subscription type: `stream.offline` → `stream-offline`. */
  toEventType(subscriptionType: string): string;
}
