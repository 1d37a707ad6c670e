/** A connection that delivers live events, over server-sent events or a WebSocket. */
export interface LiveConnection {
  /**
   * Connects. Returns undefined on success. A WebSocket returns before it is connected, and `read` reports a failure.
   *
   * @param after the position to resume after; undefined to receive only new events
   * @throws LiveError if the response is an error that a retry would not change
   */
  open(after: string | undefined): Promise<Loss | undefined>;
  /** Returns the next message, which may have arrived before this call. */
  read(): Promise<LiveMessage | Loss>;
  /** Ends the connection. A pending `open` or `read` returns a Loss. */
  close(): void;
}

/** A message from the service. */
export interface LiveMessage {
  /** `message` for an event or a position alone; otherwise the kind of the service's message, such as `gap` or `closed`. */
  kind: string;
  /** The client's position after this message; undefined if it stays the same. */
  position: string | undefined;
  /** An event's record, or the fields of another message; undefined if the message has no data. */
  content: Record<string, unknown> | undefined;
}

/** A connection was lost or failed to open. Another attempt can succeed. */
export class Loss {
  constructor(
    readonly cause: unknown,
    /** Wait that the service asked for, in milliseconds. */
    readonly retryAfterMs?: number,
  ) {}
}

/** Parses a message's data. Returns a Loss if the data is not a JSON object, because the connection is then broken. */
export function parseObject(data: string): Record<string, unknown> | Loss {
  try {
    const content: unknown = JSON.parse(data);
    if (typeof content === 'object' && content !== null && !Array.isArray(content))
      return content as Record<string, unknown>; // Safe cast: just checked.
    return new Loss(new Error('The event stream sent data that is not a JSON object'));
  } catch (cause) {
    return new Loss(new Error('The event stream sent data that is not valid JSON', { cause }));
  }
}
