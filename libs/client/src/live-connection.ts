/** A connection that delivers live events, over server-sent events or a WebSocket. */
export interface LiveConnection {
  /**
   * Connects. Returns undefined on success.
   *
   * @param after the last position that the client received
   * @throws LiveError if the service rejects the request and would reject the next one too
   */
  open(after: string | undefined): Promise<Loss | undefined>;
  /** Returns the next message. It can have arrived earlier. */
  read(): Promise<LiveMessage | Loss>;
  /** Ends the connection. A pending `open` or `read` returns a Loss. */
  close(): void;
}

/** A message from the service. */
export interface LiveMessage {
  /** `message` for an event; otherwise a control, such as `gap` or `closed`. */
  kind: string;
  /** The client's position after this message; undefined if it stays the same. */
  position: string | undefined;
  /** An event's record or a control's fields; undefined if the message only carries a position. */
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
    if (typeof content === 'object' && content !== null) return content as Record<string, unknown>; // Safe cast: just checked.
    return new Loss(new Error('The event stream sent data that is not a JSON object'));
  } catch (cause) {
    return new Loss(new Error('The event stream sent data that is not valid JSON', { cause }));
  }
}
