import { closeCodes } from './close-codes.js';
import { Loss, type LiveConnection, type LiveMessage } from './live-connection.js';
import { LiveError } from './live-error.js';
import type { LiveEvent } from './live-event.js';
import { maxDelayMs, reconnectDelay } from './reconnect-delay.js';
import { waitFor } from './wait-for.js';

/** The service could not continue after the client's position, so the client may have missed events. */
export interface Gap {
  /**
   * - `unknown_position`: the position is invalid, or the stream has no event at this position
   * - `other_epoch`: the stream was recreated or lost its newest events after you received the position
   * - `expired`: the stream no longer has the events after the position
   */
  reason: 'unknown_position' | 'other_epoch' | 'expired' | (string & {});
}

/** A control for an overlay. Newer services can send other controls. */
export type LiveControl = 'skip' | 'replay' | 'pause' | 'resume' | (string & {});

/** A connection was lost or failed to open. The client will reconnect. */
export interface Retry {
  /** The reason; a LiveError if the service rejected or ended the connection. */
  cause: unknown;
  /** Time until the client reconnects, in milliseconds. */
  delayMs: number;
}

/** Callbacks for live events, and a signal that ends the iteration. */
export interface LiveCallbacks {
  /** Called once per connection, when its first message arrives. A message that ends the connection does not count. */
  onConnect?: (() => void) | undefined;
  /** Called when you may have missed events. The next event arrives after the returned promise resolves. */
  onGap?: ((gap: Gap) => void | Promise<void>) | undefined;
  /**
   * Called when someone sends a control to this connection's `name`: `skip` the current alert, `replay` the last one, `pause`, or `resume`.
   * Runs before your loop gets the events that follow the control. Set this callback only if you need controls.
   */
  onControl?: ((control: LiveControl) => void) | undefined;
  /** Called before the client waits to reconnect. */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** Aborting this signal ends the iteration, which throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

// These codes mean that the client itself has violated the WebSocket protocol or sent too much (RFC 6455 §7.4.1).
const protocolErrors = [1002, 1007, 1008, 1009];
// Reconnecting after one of these codes would fail again.
const finalCloseCodes: readonly number[] = [
  closeCodes.invalid,
  closeCodes.unauthenticated,
  closeCodes.forbidden,
  ...protocolErrors,
];

/**
 * Live events in order, across reconnects.
 *
 * ```
 * state      │ on                                                 │ next state
 * ───────────┼────────────────────────────────────────────────────┼───────────
 * connecting │ stream begins                                      │ open
 *            │ response with 408, 425, 429, or 5xx                │ waiting
 *            │ other response with a problem document             │ ended (error)
 *            │ other response, before the first message           │ ended (error)
 *            │ other response later, no response, timeout         │ waiting
 * open       │ connection lost, silent too long, other close code │ waiting
 *            │ close code 4401, and the token was sent too late   │ waiting
 *            │ close code 4400, 4401, 4403, or a protocol error   │ ended (error)
 * waiting    │ backoff or Retry-After is over                     │ connecting
 * any        │ `break`, `return()`                                │ ended
 *            │ signal aborts                                      │ ended (error)
 * ```
 *
 * Connects on the first call of `next()`. With server-sent events, reads from the network only as fast as the caller takes events. If the
 * caller is too slow, the service (with a WebSocket, also the client itself) ends the connection, and the client reconnects. Each
 * connection resumes after the last event that `next()` returned, not after the last one that arrived, so no event is lost or repeated.
 */
export class LiveEvents implements AsyncIterableIterator<LiveEvent> {
  private readonly ending = new AbortController();
  private readonly events: AsyncGenerator<LiveEvent, undefined, undefined>;
  private attempts = 0;
  private hasConnected = false;

  constructor(
    private readonly connect: (signal: AbortSignal) => LiveConnection,
    private readonly callbacks: LiveCallbacks,
    private last: string | undefined,
    private readonly delayOf = reconnectDelay,
  ) {
    this.events = this.run();
  }

  /**
   * All matching events up to this position were returned. Pass it as `after` to resume. The position also advances while no event matches
   * the filters. Until the service has sent a position, it equals the option `after`.
   */
  get position(): string | undefined {
    return this.last;
  }

  /**
   * Waits for the next event.
   *
   * @throws LiveError if the service rejects or ends the connection and a retry would fail; the signal's reason; errors from callbacks
   */
  next(): Promise<IteratorResult<LiveEvent, undefined>> {
    return this.events.next();
  }

  /** Ends the iteration, even while `next()` waits. */
  return(): Promise<IteratorResult<LiveEvent, undefined>> {
    this.ending.abort();
    return this.events.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private async *run(): AsyncGenerator<LiveEvent, undefined, undefined> {
    const { signal } = this.callbacks;
    const end = (): void => this.ending.abort();
    signal?.addEventListener('abort', end);
    try {
      for (;;) {
        signal?.throwIfAborted();
        if (this.ending.signal.aborted) return undefined;
        const loss = yield* this.readConnection();
        await this.pause(loss);
      }
    } finally {
      signal?.removeEventListener('abort', end);
    }
  }

  private async *readConnection(): AsyncGenerator<LiveEvent, Loss, undefined> {
    const startedAt = performance.now();
    const connection = this.connect(this.ending.signal);
    try {
      const loss = await this.open(connection);
      if (loss) return loss;
      for (let isFirst = true; ; isFirst = false) {
        const message = await connection.read();
        // If the iteration has ended, drop messages that arrived before.
        if (this.ending.signal.aborted) return new Loss(this.ending.signal.reason);
        const event = message instanceof Loss ? message : await this.take(message);
        if (event instanceof Loss) return event;
        if (isFirst) this.callbacks.onConnect?.();
        this.hasConnected = true;
        if (!event) continue;
        this.attempts = 0;
        yield event;
      }
    } finally {
      connection.close();
      // After a connection of this length, reset the backoff: the connection may have worked although no event matched the filters.
      if (performance.now() - startedAt > maxDelayMs) this.attempts = 0;
    }
  }

  /** @throws LiveError if the service rejects the connection */
  private async open(connection: LiveConnection): Promise<Loss | undefined> {
    try {
      return await connection.open(this.last);
    } catch (error) {
      // The service rejects with a problem document. Any other response comes from a proxy, for example while the service restarts. On the
      // first connection, such a response more likely means that the URL is wrong.
      if (this.hasConnected && error instanceof LiveError && !error.problem) return new Loss(error);
      throw error;
    }
  }

  /** Handles a message. Returns its event, if any. */
  private async take({ kind, position, content }: LiveMessage): Promise<LiveEvent | Loss | undefined> {
    if (kind === 'closed') return readClosing(content);
    if (position) this.last = position;
    if (!content) return undefined;
    if (kind === 'gap') await this.callbacks.onGap?.(content as unknown as Gap); // Safe cast: a gap has a reason.
    if (kind === 'control') this.callbacks.onControl?.(String(content.control));
    // Newer services can send other kinds of messages. Ignore them.
    if (kind !== 'message') return undefined;
    return { ...content, position } as LiveEvent; // Safe cast: the content of such a message is a record.
  }

  private async pause({ cause, retryAfterMs }: Loss): Promise<void> {
    if (this.ending.signal.aborted) return;
    const delayMs = retryAfterMs === undefined ? this.delayOf(this.attempts) : retryAfterMs + this.delayOf(0);
    this.attempts += 1;
    this.callbacks.onRetry?.({ cause, delayMs });
    await waitFor(delayMs, this.ending.signal);
  }
}

/**
 * Reads why the service ended the connection.
 *
 * @throws LiveError if the service would also end the next connection
 */
function readClosing(content: Record<string, unknown> | undefined): Loss {
  const closeCode = Number(content?.code);
  const error = new LiveError(`${closeCode}: ${String(content?.reason)}`, { closeCode });
  if (finalCloseCodes.includes(closeCode)) throw error;
  return new Loss(error);
}
