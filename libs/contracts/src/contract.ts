import type { ErrorCode } from './errors.js';

/** A class that class-transformer can instantiate and class-validator can check. */
export type MessageClass<T extends object> = new () => T;

/** How a message travels as bytes instead of JSON. */
export interface RawFormat<Message extends object> {
  print(message: Message): Uint8Array;
  /**
   * The bytes are part of the network buffer: copy them to keep them.
   *
   * @throws ServiceError `invalid`
   */
  parse(bytes: Uint8Array): Message;
}

/**
 * A request that one service handles for others over NATS, declared once. The types of the caller and of the handler, the
 * validation at both ends, and the errors derive from it.
 */
export interface Contract<Request extends object, Reply extends object> {
  /** NATS subject: `request.<service>.<verb>`. The prefix keeps requests apart from events. */
  readonly subject: string;
  readonly request: MessageClass<Request>;
  readonly reply: MessageClass<Reply>;
  /** The errors that the handler may return, in addition to `unavailable` and `internal`. */
  readonly errors: readonly ErrorCode[];
  /** How long a caller waits for the reply. After that, the service counts as unavailable. */
  readonly timeoutMs: number;
  /**
   * Replaces class-validator on a hot path: returns the parsed message with its type, or throws `invalid`. A test proves that
   * it is equivalent to the classes.
   */
  readonly parseRequest?: (message: unknown) => Request;
  /** Like `parseRequest`, for the reply. */
  readonly parseReply?: (message: unknown) => Reply;
  /** The request always travels in this format. Adding a format to an existing contract therefore requires a new subject. */
  readonly rawRequest?: RawFormat<Request>;
  /** The reply travels in this format when the caller can read it. Otherwise, between services of two versions, it is JSON. */
  readonly rawReply?: RawFormat<Reply>;
}

/** Declares a contract. Infers and keeps its types. */
export function defineContract<Request extends object, Reply extends object>(
  contract: Contract<Request, Reply>,
): Contract<Request, Reply> {
  return contract;
}

/** A request without fields. */
export class EmptyRequest {}
