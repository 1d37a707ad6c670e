import type { LiveControl, OpenConnection } from '@stream-events/contracts';
import { pause } from '@stream-events/service';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Interruption } from '../stream/event-feed.service.js';
import type { HistoryPage } from '../stream/event-history.service.js';
import type { FanOut, Member } from './fan-out.js';
import { controlFrame, frameOf, gapFrame, keepAliveFrame, readyFrame } from './frames.js';
import type { LiveEvent } from '../stream/live-event.js';
import { compileFilter, type LiveFilter } from './live-filter.js';
import type { LiveSink } from './live-sink.js';
import { findResumeSequence, type EventReaders } from '../stream/resume-sequence.js';
import { parsePosition, positionOf, type Position } from '../stream/position.js';
import { closeCodes, type CloseReason } from '../close-codes.js';
import type { GapReason } from '../gap-reasons.js';
import { maxBufferedBytes } from '../live-limits.js';

/** The options with which a client connects. */
export interface LiveRequest {
  filter: LiveFilter;
  /** The last position that the client received. Without a position, the client receives new events only. */
  after?: string | undefined;
  /** WebSocket only: server-sent events always get keep-alives. */
  keepAlive: boolean;
  controls?: boolean;
  /** Replays, rehearsals, and controls can target connections by name. */
  name?: string | undefined;
}

export interface LiveSurroundings extends EventReaders {
  /** Reads older events. The connection calls `rest` when it needs no older events for now. */
  history: EventReaders['history'] & { rest(): void };
  fanOut: FanOut;
  /** Called once, after the connection has ended. */
  onClosed(connection: LiveConnection, closing: Closing): void;
}

/** How a connection ended. */
export interface Closing {
  /** `left`: the client ended the connection. */
  reason: CloseReason | 'left';
  /** The close code; 1006 when a client ended a WebSocket without a close frame, null when it ended a stream of server-sent events. */
  code: number | null;
}

// A client that catches up gets events in pieces of this size. It must read each piece before it gets the next one.
const pieceBytes = 64 * 1024;
const ringBufferPage = 128;
// Pages are cut to this size. An uncut page of large events (up to 32 MiB) would stay in memory while a slow client reads it.
const heldBytes = 512 * 1024;
const retryMs = 500;

type EventsPage = Extract<HistoryPage, { kind: 'events' }>;

/**
 * The live connection of one client.
 *
 * ```
 *                          cannot resume there: gap
 *                         ┌──────────────────────────┐
 *  opened ── locating ──▶ catching up ──caught up──▶ live ──▶ closed (from every state)
 *                           ▲  │  ▲                    │
 *             next piece    └──┘  └────────────────────┘
 *             when the client     1 MiB waits for the client, or
 *             took the last one   the stream was interrupted: gap
 * ```
 *
 * A client that catches up reads at its own pace and does not slow down other clients. It is disconnected when it reads nothing for 10 s. A
 * client that was live before is also disconnected when it falls behind the ring buffer.
 */
export class LiveConnection implements Member {
  readonly filter: LiveFilter;
  private readonly passes: ((event: LiveEvent) => boolean) | undefined;
  private readonly ending = new AbortController();
  /** While catching up: the sequence to send next. 0: not located yet. */
  private cursor = 0;
  /** The position of the last event before the cursor. Starts as the position that the client sent. Undefined if unknown. */
  private reached: Position | undefined;
  private isLive = false;
  /** Number of the current attempt to locate or catch up. Asynchronous work of an earlier attempt stops when the number has changed. */
  private turn = 0;

  constructor(
    readonly request: LiveRequest,
    private readonly sink: LiveSink,
    private readonly surroundings: LiveSurroundings,
  ) {
    this.filter = request.filter;
    this.passes = compileFilter(request.filter);
    this.reached = parsePosition(request.after ?? '');
  }

  get format(): LiveSink['format'] {
    return this.sink.format;
  }

  /** How far the client is behind, for the system status. */
  get progress(): Pick<OpenConnection, 'state' | 'lagEvents' | 'unreadBytes'> {
    const unreadBytes = this.sink.bufferedBytes;
    if (this.isLive) return { state: 'live', lagEvents: 0, unreadBytes };
    if (this.cursor === 0) return { state: 'locating', lagEvents: null, unreadBytes };
    const lagEvents = Math.max(0, this.surroundings.feed.nextSequence - this.cursor);
    return { state: 'catching_up', lagEvents, unreadBytes };
  }

  /** Starts to deliver. Resolves when the client is live, the connection has ended, or a later attempt has taken over. */
  async start(): Promise<void> {
    const turn = (this.turn += 1);
    const found = await this.findStart();
    if (turn !== this.turn) return;
    if (typeof found === 'number') this.cursor = found;
    else this.skipTo(this.surroundings.feed.nextSequence, found);
    await this.catchUp(false);
  }

  /** Writes live events. If too much data is buffered for the client, goes back to catching up. */
  deliver(frames: Buffer, firstSequence: number): void {
    if (!this.isLive) return;
    if (this.sink.bufferedBytes + frames.length <= maxBufferedBytes) {
      this.sink.write(frames);
    } else {
      this.cursor = firstSequence;
      this.reached = undefined;
      void this.catchUp(true);
    }
  }

  /** Sends a replayed event, which has no position. Drops the event if too much data is buffered for the client. */
  replay(event: LiveEvent): 'sent' | 'dropped' | 'filtered out' {
    if (this.passes && !this.passes(event)) return 'filtered out';
    const frame = frameOf(event, this.format);
    if (this.sink.bufferedBytes + frame.length > maxBufferedBytes) return 'dropped';
    this.sink.write(frame);
    return 'sent';
  }

  /** Sends a control to a client that has asked for controls. Returns whether the control was sent. */
  control(control: LiveControl): boolean {
    const isWanted = this.request.controls === true && !this.ending.signal.aborted;
    if (!isWanted || this.sink.bufferedBytes > maxBufferedBytes) return false;
    this.sink.write(controlFrame(control, this.format));
    return true;
  }

  /**
   * Waits until the client's write buffer has drained. Closes the connection if the client reads nothing for 10 s. Returns whether the
   * connection is still open.
   */
  async hasRead(): Promise<boolean> {
    if (!(await this.sink.drained())) this.close('too_slow');
    return !this.ending.signal.aborted;
  }

  /** Reports a gap and moves the client to where the stream continues. */
  interrupt({ reason, nextSequence }: Interruption): void {
    if (this.ending.signal.aborted) return;
    // If the resume position is still being looked up, start over: the interruption can make the result wrong.
    if (this.cursor === 0) {
      void this.start();
    } else {
      this.skipTo(nextSequence, reason);
      void this.catchUp(false);
    }
  }

  /**
   * Sends a keep-alive with the client's position, unless data is buffered for the client or its position is unknown. A live client is at
   * the head of the stream. Clients that catch up get keep-alives too: if their filter passes few events, they would take the silence for a
   * dead connection and reconnect at an old position.
   */
  keepAlive(head: Position): void {
    const isWanted = this.request.keepAlive || this.format === 'server_sent';
    const position = this.isLive ? head : this.reached;
    if (isWanted && position && this.sink.bufferedBytes === 0)
      this.sink.write(keepAliveFrame(position, this.format));
  }

  close(reason: CloseReason, text?: string): void {
    if (this.ending.signal.aborted) return;
    this.endWork();
    this.sink.close(reason, text);
    this.surroundings.onClosed(this, { reason, code: closeCodes[reason].code });
  }

  /** Cleans up after the client has closed the connection. @param code the WebSocket's close code: 1006 without a close frame */
  leave(code: number | null = null): void {
    if (this.ending.signal.aborted) return;
    this.endWork();
    this.surroundings.onClosed(this, { reason: 'left', code });
  }

  private endWork(): void {
    this.ending.abort();
    this.surroundings.history.rest();
    this.endTurn();
  }

  /** Returns the sequence at which the client resumes, or the reason why the client cannot resume. Waits while NATS is unavailable. */
  private async findStart(): Promise<number | GapReason> {
    const { feed } = this.surroundings;
    const { after } = this.request;
    const { signal } = this.ending;
    while (!signal.aborted) {
      try {
        if (!feed.ringBuffer) await feed.untilCurrent(signal);
        return after === undefined
          ? feed.nextSequence
          : await findResumeSequence(after, this.surroundings, signal);
      } catch {
        // Do not log the error, because EventHistory logs it.
        await this.pause();
      }
    }
    return feed.nextSequence;
  }

  /** Sends all events from the cursor on at the client's pace, then makes the client live. */
  private async catchUp(wasLive: boolean): Promise<void> {
    this.endTurn();
    const { turn } = this;
    const { feed } = this.surroundings;
    while (await this.isReady(turn)) {
      if (this.cursor >= feed.nextSequence) {
        this.goLive(wasLive);
        return;
      }
      if (wasLive && this.cursor < (feed.ringBuffer?.firstSequence ?? 0)) {
        this.close('too_slow');
        return;
      }
      const page = await this.readPage();
      if (turn !== this.turn) return;
      if (page?.kind === 'events') await this.send(page, turn);
      else if (page) this.skipTo(feed.nextSequence, page.kind);
      // Yield to other connections.
      await nextTurn();
    }
  }

  /** Waits until the client's write buffer has drained. Returns false if this attempt to catch up or the connection has ended. */
  private async isReady(turn: number): Promise<boolean> {
    const isDrained = await this.sink.drained();
    if (turn !== this.turn) return false;
    if (!isDrained) this.close('too_slow');
    return isDrained;
  }

  /** Reads the next events. Returns undefined if this fails; the caller retries. */
  private async readPage(): Promise<HistoryPage | undefined> {
    const { feed, history } = this.surroundings;
    const { ringBuffer, nextSequence } = feed;
    if (!ringBuffer) return undefined;
    if (this.cursor >= ringBuffer.firstSequence) {
      history.rest();
      const events = ringBuffer.slice(this.cursor, ringBufferPage);
      const last = events.length < ringBufferPage ? undefined : events.at(-1);
      return shorten({ kind: 'events', events, next: last ? last.sequence + 1 : nextSequence });
    }
    try {
      const place = { epoch: ringBuffer.epoch, from: this.cursor, until: ringBuffer.firstSequence - 1 };
      const page = await history.read(place, this.ending.signal);
      return page.kind === 'events' ? shorten(page) : page;
    } catch {
      // Do not log the error, because EventHistory logs it.
      await this.pause();
      return undefined;
    }
  }

  private async send({ events, next }: EventsPage, turn: number): Promise<void> {
    let frames: Buffer[] = [];
    let bytes = 0;
    for (const event of events) {
      this.cursor = event.sequence + 1;
      this.reached = positionOf(event);
      if (this.passes && !this.passes(event)) continue;
      const frame = frameOf(event, this.format);
      frames.push(frame);
      bytes += frame.length;
      if (bytes < pieceBytes) continue;
      this.sink.write(Buffer.concat(frames));
      [frames, bytes] = [[], 0];
      if (!(await this.isReady(turn))) return;
    }
    if (frames.length > 0) this.sink.write(Buffer.concat(frames));
    this.cursor = next;
  }

  private goLive(wasLive: boolean): void {
    const { fanOut, feed, history } = this.surroundings;
    history.rest();
    this.isLive = true;
    fanOut.join(this);
    const ready = !wasLive && feed.head && readyFrame(feed.head, this.format);
    if (ready) this.sink.write(ready);
  }

  private skipTo(sequence: number, reason: GapReason): void {
    this.cursor = sequence;
    this.reached = undefined;
    const gap = gapFrame(reason, this.format);
    if (gap) this.sink.write(gap);
  }

  /** Ends the current state: locating, catching up, or live. */
  private endTurn(): void {
    this.turn += 1;
    if (this.isLive) this.surroundings.fanOut.leave(this);
    this.isLive = false;
  }

  private async pause(): Promise<void> {
    await pause(retryMs, this.ending.signal);
  }
}

/** Cuts a page to about `heldBytes`. The rest is read again later. */
function shorten(page: EventsPage): EventsPage {
  let bytes = 0;
  const end = page.events.findIndex(({ record }) => (bytes += record.length) >= heldBytes);
  const last = page.events[end];
  if (!last || end === page.events.length - 1) return page;
  return { ...page, events: page.events.slice(0, end + 1), next: last.sequence + 1 };
}
