import type { ErrorCode } from './errors.js';

/** A class that class-transformer can instantiate and class-validator can check. */
export type MessageClass<T extends object> = new () => T;

/** Prints and parses a message as bytes instead of JSON. */
export interface RawFormat<Message extends object> {
  print(message: Message): Uint8Array;
  /**
   * `bytes` is part of the network buffer. Copy the parts that you keep.
   *
   * @throws ServiceError `invalid`
   */
  parse(bytes: Uint8Array): Message;
}

/**
 * Declares a request that one service handles for other services over NATS. This declaration determines the types of the caller and the
 * handler, the validation at both ends, and the errors.
 */
export interface Contract<Request extends object, Reply extends object> {
  /** NATS subject: `request.<service>.<verb>`. The prefix keeps requests apart from events. */
  readonly subject: string;
  readonly request: MessageClass<Request>;
  readonly reply: MessageClass<Reply>;
  /** The errors that the handler may return, in addition to `unavailable` and `internal`. */
  readonly errors: readonly ErrorCode[];
  /** How long a caller waits for the reply. After this time, the caller treats the service as unavailable. */
  readonly timeoutMs: number;
  /**
   * Replaces class-validator on a hot path. Returns the typed message, or throws `invalid`. A test proves that the function is equivalent
   * to the decorators of the class.
   */
  readonly parseRequest?: (message: unknown) => Request;
  /** Like `parseRequest`, for the reply. */
  readonly parseReply?: (message: unknown) => Reply;
  /**
   * Callers send every request in this format. To add a format to an existing contract, declare a new subject, because handlers of older
   * versions expect JSON.
   */
  readonly rawRequest?: RawFormat<Request>;
  /**
   * The handler sends the reply in this format when the caller can parse the format. Between services of different versions, the reply can
   * be JSON instead.
   */
  readonly rawReply?: RawFormat<Reply>;
}

/** Declares a contract and infers its types. */
export function defineContract<Request extends object, Reply extends object>(
  contract: Contract<Request, Reply>,
): Contract<Request, Reply> {
  return contract;
}

/** A request without fields. */
export class EmptyRequest {}
