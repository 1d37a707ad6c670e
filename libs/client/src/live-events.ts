import { closeCodes } from './close-codes.js';
import { Loss, type LiveConnection, type LiveMessage } from './live-connection.js';
import { LiveError } from './live-error.js';
import type { LiveEvent } from './live-event.js';
import { maxDelayMs, reconnectDelay } from './reconnect-delay.js';
import { waitFor } from './wait-for.js';

/** A gap: the client missed events. */
export interface Gap {
  /**
   * - `unknown_position`: the position is not valid, or the stream has no event at this position
   * - `other_epoch`: the stream was recreated, or lost its newest events, after you received the position
   * - `expired`: the events that follow the position are no longer on the stream
   */
  reason: 'unknown_position' | 'other_epoch' | 'expired' | (string & {});
}

/** A control for an overlay. Newer services may send other controls. */
export type LiveControl = 'skip' | 'replay' | 'pause' | 'resume' | (string & {});

/** A connection was lost or could not be opened, and the client will reconnect. */
export interface Retry {
  /** The reason. A LiveError if the service refused or ended the connection. */
  cause: unknown;
  /** How long the client waits before it reconnects, in milliseconds. */
  delayMs: number;
}

/** Callbacks for live events, and the signal that ends the iteration. */
export interface LiveCallbacks {
  /** Called when a connection delivers its first message: at the start, and after each reconnect. */
  onConnect?: (() => void) | undefined;
  /**
   * Called when you missed events that are no longer on the stream. The client delivers the next event after the returned promise resolves.
   */
  onGap?: ((gap: Gap) => void | Promise<void>) | undefined;
  /**
   * Called when somebody sends a control to this connection by the name of the connection: `skip` the current alert, `replay` the last one,
   * `pause`, or `resume`. Called before the loop gets the events that arrive after the control. Set this callback only if you need
   * controls.
   */
  onControl?: ((control: LiveControl) => void) | undefined;
  /** Called before the client waits to reconnect. */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** Aborting this signal ends the iteration, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

// These codes mean that the client has violated the WebSocket protocol (RFC 6455 §7.4.1).
const protocolErrors = [1002, 1007, 1008, 1009];
// After these codes, a reconnect would fail, too.
const finalCloseCodes: readonly number[] = [
  closeCodes.invalid,
  closeCodes.unauthenticated,
  closeCodes.forbidden,
  ...protocolErrors,
];

/**
 * Live events, one after the other, across reconnects.
 *
 * ```
 * state      │ on                                                 │ next state
 * ───────────┼────────────────────────────────────────────────────┼───────────
 * connecting │ stream begins                                      │ open
 *            │ 4xx except 408, 425, 429; not an event stream      │ ended (error)
 *            │ other response, no response, timeout               │ waiting
 * open       │ connection lost, silent too long, other close code │ waiting
 *            │ close code 4401, and the token was sent too late   │ waiting
 *            │ close code 4400, 4401, 4403, or a protocol error   │ ended (error)
 * waiting    │ backoff or Retry-After is over                     │ connecting
 * any        │ `break`, `return()`                                │ ended
 *            │ signal aborts                                      │ ended (error)
 * ```
 *
 * Connects on the first call of `next()`, and reads from the network only as fast as events are consumed. When a consumer is too slow, the
 * service ends the connection, and the client resumes at the consumer's position. Each connection resumes after the last event that
 * `next()` returned, not after the last event that arrived, so no event is lost or repeated.
 */
export class LiveEvents implements AsyncIterableIterator<LiveEvent> {
  private readonly ending = new AbortController();
  private readonly events: AsyncGenerator<LiveEvent, undefined, undefined>;
  private attempts = 0;

  constructor(
    private readonly connect: (signal: AbortSignal) => LiveConnection,
    private readonly callbacks: LiveCallbacks,
    private last: string | undefined,
    private readonly delayOf = reconnectDelay,
  ) {
    this.events = this.run();
  }

  /**
   * The position up to which all events were returned. To resume there, pass this position as `after`. The position also advances
   * while no event passes the filters. Before the first connection, it equals the option `after`.
   */
  get position(): string | undefined {
    return this.last;
  }

  /**
   * Waits for the next event.
   *
   * @throws LiveError if the service refuses; the signal's reason; the errors of the callbacks
   */
  next(): Promise<IteratorResult<LiveEvent, undefined>> {
    return this.events.next();
  }

  /** Ends the iteration, even while `next()` waits for an event. */
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
      const loss = await connection.open(this.last);
      if (loss) return loss;
      for (let isFirst = true; ; isFirst = false) {
        const message = await connection.read();
        const event = message instanceof Loss ? message : await this.take(message);
        if (event instanceof Loss) return event;
        if (isFirst) this.callbacks.onConnect?.();
        if (!event) continue;
        this.attempts = 0;
        yield event;
      }
    } finally {
      connection.close();
      // A connection that lasted this long counts as working, even if no event passed the filters.
      if (performance.now() - startedAt > maxDelayMs) this.attempts = 0;
    }
  }

  /** Handles a message. Returns its event, if it has one. */
  private async take({ kind, position, content }: LiveMessage): Promise<LiveEvent | Loss | undefined> {
    if (kind === 'closed') return readClosing(content);
    if (position) this.last = position;
    if (!content) return undefined;
    if (kind === 'gap') await this.callbacks.onGap?.(content as unknown as Gap); // Safe cast: a gap has a reason.
    if (kind === 'control') this.callbacks.onControl?.(String(content.control));
    // Ignore other kinds of messages, which a newer service may send.
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
 * Reads the reason why the service ends the connection.
 *
 * @throws LiveError if the service would also end the next connection
 */
function readClosing(content: Record<string, unknown> | undefined): Loss {
  const closeCode = Number(content?.code);
  const error = new LiveError(`${closeCode}: ${String(content?.reason)}`, { closeCode });
  if (finalCloseCodes.includes(closeCode)) throw error;
  return new Loss(error);
}
