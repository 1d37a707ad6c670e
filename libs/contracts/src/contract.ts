import type { ErrorCode } from './errors.js';

/** A class that class-transformer can instantiate and class-validator can check. */
export type MessageClass<T extends object> = new () => T;

/**
 * A request that one service answers for others over NATS, declared once: the types of the caller and of
 * the handler, the validation of what enters a process and the errors all derive from it.
 */
export interface Contract<Request extends object, Reply extends object> {
  /** NATS subject; `request.<service>.<verb>`, so that no request is ever taken for an event. */
  readonly subject: string;
  readonly request: MessageClass<Request>;
  readonly reply: MessageClass<Reply>;
  /** What the handler may answer with instead of a reply, besides `unavailable` and `internal`. */
  readonly errors: readonly ErrorCode[];
  /** How long a caller waits before the service counts as unavailable. */
  readonly timeoutMs: number;
  /**
   * Stands in for class-validator where a request is hot: takes the parsed message, gives it back typed, or
   * throws `invalid`. Its test compares it with the classes.
   */
  readonly parseRequest?: (message: unknown) => Request;
  /** The same for the reply. */
  readonly parseReply?: (message: unknown) => Reply;
}

/** Declares a contract; exists so that the types are inferred and kept. */
export function defineContract<Request extends object, Reply extends object>(
  contract: Contract<Request, Reply>,
): Contract<Request, Reply> {
  return contract;
}

/** A request that says nothing more than its subject. */
export class EmptyRequest {}
