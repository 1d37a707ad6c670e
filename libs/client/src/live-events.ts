import { EventStream, Loss, type StreamRequest } from './event-stream.js';
import { LiveError } from './live-error.js';
import type { LiveEvent } from './live-event.js';
import { maxDelayMs, reconnectDelay } from './reconnect-delay.js';
import type { Block } from './server-sent-events.js';
import { waitFor } from './wait-for.js';

/** Events were missed. */
export interface Gap {
  /**
   * - `unknown_position`: `after` is not valid, or there is no such event on the stream
   * - `other_epoch`: the stream was recreated, or lost its newest events, after that position
   * - `expired`: the events that came next are no longer on the stream
   */
  reason: 'unknown_position' | 'other_epoch' | 'expired' | (string & {});
}

/** A connection was lost, or did not come about. */
export interface Retry {
  /** Why; a LiveError when the service said so. */
  cause: unknown;
  /** How long it waits before it connects again. */
  delayMs: number;
}

/** Who is told of what happens to live events, and what ends them. */
export interface LiveCallbacks {
  /** Called when events were missed that can be had no more from the stream; the next event waits until it is done. */
  onGap?: ((gap: Gap) => void | Promise<void>) | undefined;
  /** Called when a connection was lost, or did not come about: it will be tried again. */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** Ends the events with its reason as the error. */
  signal?: AbortSignal | undefined;
}

// Codes with which the service ends a connection, and would the next one: the request is wrong, the token is not valid.
const finalCloseCodes = [4400, 4401];

/**
 * Live events, one after the other, over as many connections as it takes.
 *
 * ```
 * state      │ goes on when                                       │ to
 * ───────────┼────────────────────────────────────────────────────┼───────────
 * connecting │ the stream begins                                  │ open
 *            │ 4xx but 408, 425, 429; no event stream             │ ended (error)
 *            │ other answers, none, or none in time               │ waiting
 * open       │ cut, silent for too long, closed for a while       │ waiting
 *            │ closed with 4400 or 4401                           │ ended (error)
 * waiting    │ the time is over that backoff or Retry-After gives │ connecting
 * any        │ break, return()                                    │ ended
 *            │ the signal                                         │ ended (error)
 * ```
 *
 * It connects when the first event is asked for, and reads no faster than it is asked: a slow reader slows the service down,
 * which cuts it at some time, and serves it again from where it was. Each connection begins behind the last event that was
 * handed over, not behind what had arrived: none is lost, and none comes twice.
 */
export class LiveEvents implements AsyncIterableIterator<LiveEvent> {
  private readonly ending = new AbortController();
  private readonly events: AsyncGenerator<LiveEvent, undefined, undefined>;
  private attempts = 0;

  constructor(
    private readonly request: StreamRequest,
    private readonly callbacks: LiveCallbacks,
    private last: string | undefined,
    private readonly delayOf = reconnectDelay,
  ) {
    this.events = this.run();
  }

  /**
   * The place up to which everything was handed over: what `after` takes to go on from there. It also moves on when no event
   * passes the filters. Before the first connection it is what `after` was.
   */
  get position(): string | undefined {
    return this.last;
  }

  /**
   * Waits for the next event.
   *
   * @throws LiveError when the service refuses; the signal's reason; what `onGap` and `onRetry` throw
   */
  next(): Promise<IteratorResult<LiveEvent, undefined>> {
    return this.events.next();
  }

  /** Ends it, also while an event is waited for. */
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
    const stream = new EventStream(this.request, this.ending.signal);
    try {
      const loss = await stream.open(this.last);
      if (loss) return loss;
      for (;;) {
        const block = await stream.read();
        const event = block instanceof Loss ? block : await this.take(block);
        if (event instanceof Loss) return event;
        if (!event) continue;
        this.attempts = 0;
        yield event;
      }
    } finally {
      stream.close();
      // It was of use without an event, too.
      if (performance.now() - startedAt > maxDelayMs) this.attempts = 0;
    }
  }

  /** What a block brings: perhaps an event. */
  private async take({ id, event, data }: Block): Promise<LiveEvent | Loss | undefined> {
    const content = data === undefined ? undefined : parseObject(data);
    if (content instanceof Loss) return content;
    if (event === 'closed') return readClosing(content);
    if (id) this.last = id;
    if (!content) return undefined;
    if (event === 'gap') await this.callbacks.onGap?.(content as unknown as Gap); // holds: a gap has a reason
    // Kinds that a newer service may have are not for us.
    if (event !== 'message') return undefined;
    return { ...content, position: id || undefined } as LiveEvent; // holds: the data of a message is a record
  }

  private async pause({ cause, retryAfterMs }: Loss): Promise<void> {
    if (this.ending.signal.aborted) return;
    const delayMs = retryAfterMs === undefined ? this.delayOf(this.attempts) : retryAfterMs + this.delayOf(0);
    this.attempts += 1;
    this.callbacks.onRetry?.({ cause, delayMs });
    await waitFor(delayMs, this.ending.signal);
  }
}

/** Why the service ends the connection; an error when it would end the next one as well. */
function readClosing(content: Record<string, unknown> | undefined): Loss {
  const closeCode = Number(content?.code);
  const error = new LiveError(`${closeCode}: ${String(content?.reason)}`, { closeCode });
  if (finalCloseCodes.includes(closeCode)) throw error;
  return new Loss(error);
}

function parseObject(data: string): Record<string, unknown> | Loss {
  try {
    const content: unknown = JSON.parse(data);
    if (typeof content === 'object' && content !== null) return content as Record<string, unknown>; // holds: just asked
    return new Loss(new Error('The stream sent something that is not an event'));
  } catch (cause) {
    return new Loss(new Error('The stream sent something that is not JSON', { cause }));
  }
}
