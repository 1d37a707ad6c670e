/** One connection that delivers live events: server-sent events, or a WebSocket. */
export interface LiveConnection {
  /**
   * Connects. Returns undefined on success.
   *
   * @param after the last position that the client received
   * @throws LiveError if the service refuses and would refuse the next attempt too
   */
  open(after: string | undefined): Promise<Loss | undefined>;
  /** Returns the next message, which may have arrived earlier. */
  read(): Promise<LiveMessage | Loss>;
  /** Ends the connection. A pending `open` or `read` then returns a Loss. */
  close(): void;
}

/** A message from the service. */
export interface LiveMessage {
  /** `message` for an event. Otherwise a control, such as `gap` or `closed`. */
  kind: string;
  /** The client's position after this message; undefined if the message does not change it. */
  position: string | undefined;
  /** The record of an event, or the fields of a control; undefined for a message that only has a position. */
  content: Record<string, unknown> | undefined;
}

/** A connection was lost or could not be opened. Another attempt may succeed. */
export class Loss {
  constructor(
    readonly cause: unknown,
    /** How long the service asks the client to wait. */
    readonly retryAfterMs?: number,
  ) {}
}

/** Parses the data of a message. Anything but a JSON object means that the connection is broken. */
export function parseObject(data: string): Record<string, unknown> | Loss {
  try {
    const content: unknown = JSON.parse(data);
    if (typeof content === 'object' && content !== null) return content as Record<string, unknown>; // Safe cast: just checked.
    return new Loss(new Error('The event stream sent data that is not a JSON object'));
  } catch (cause) {
    return new Loss(new Error('The event stream sent data that is not valid JSON', { cause }));
  }
}
