import type { ErrorCode } from './errors.js';

/** A class that class-transformer can instantiate and class-validator can check. */
export type MessageClass<T extends object> = new () => T;

/** Encodes a message as bytes instead of JSON. */
export interface RawFormat<Message extends object> {
  print(message: Message): Uint8Array;
  /**
   * `bytes` is part of the network buffer. Copy what you keep.
   *
   * @throws ServiceError `invalid`
   */
  parse(bytes: Uint8Array): Message;
}

/**
 * Declares a request that one service handles for others over NATS. The handler and the callers derive types, validation, and errors from
 * the contract.
 */
export interface Contract<Request extends object, Reply extends object> {
  /** NATS subject: `request.<service>.<verb>`. The prefix separates requests from events. */
  readonly subject: string;
  readonly request: MessageClass<Request>;
  readonly reply: MessageClass<Reply>;
  /** Errors that the handler can return in addition to `unavailable` and `internal`. The caller gets any other error as `internal`. */
  readonly errors: readonly ErrorCode[];
  /** Maximum time to wait for the reply. After this time, the caller treats the service as unavailable. */
  readonly timeoutMs: number;
  /**
   * Checks a reply by hand on a hot path, instead of with class-validator. Returns the typed reply or throws `invalid`. A test proves that
   * this function is equivalent to the class's decorators.
   */
  readonly parseReply?: (message: unknown) => Reply;
  /**
   * The format of every request. Never add a format to an existing contract, and never remove one: services of another version would not
   * understand the messages. Declare a new subject instead.
   */
  readonly rawRequest?: RawFormat<Request>;
  /** Like `rawRequest`, for every reply that is not an error. */
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
