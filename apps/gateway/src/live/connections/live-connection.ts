import { pause } from '@stream-events/service';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Interruption } from '../stream/event-feed.service.js';
import type { HistoryPage } from '../stream/event-history.service.js';
import type { FanOut, Member } from './fan-out.js';
import { frameOf, gapFrame, keepAliveFrame, readyFrame } from './frames.js';
import type { LiveEvent } from '../stream/live-event.js';
import { compileFilter, type LiveFilter } from './live-filter.js';
import type { LiveSink } from './live-sink.js';
import { findResumeSequence, type EventReaders } from '../stream/resume-sequence.js';
import { positionOf, type Position } from '../stream/position.js';
import type { CloseReason } from '../close-codes.js';
import type { GapReason } from '../gap-reasons.js';
import { maxBufferedBytes } from '../live-limits.js';

/** What a client asks for when it connects. */
export interface LiveRequest {
  filter: LiveFilter;
  /** The last position that it has; without one it gets what comes from now on. */
  after?: string | undefined;
  /** Whether it wants to be told regularly that the connection is alive. */
  keepAlive: boolean;
  /** What it calls itself: replays can be meant for the connections of a name. */
  name?: string | undefined;
}

/** What a connection works with. */
export interface LiveSurroundings extends EventReaders {
  fanOut: FanOut;
  /** After it has ended, whoever ended it. */
  onClosed(connection: LiveConnection, reason: CloseReason | 'left'): void;
}

// A piece of what is caught up on. The client takes it before it gets the next one.
const pieceBytes = 64 * 1024;
const ringBufferPage = 128;
// A page of large events has up to 32 MiB, and a client that is slow keeps it in memory until it has taken it.
const heldBytes = 512 * 1024;
const retryMs = 500;

type EventsPage = Extract<HistoryPage, { kind: 'events' }>;

/**
 * One client's live connection.
 *
 * ```
 *                           position is no use: gap
 *                         ┌──────────────────────────┐
 *  opened ── locating ──▶ catching up ──at the end──▶ live ──▶ closed (from everywhere)
 *                           ▲  │  ▲                    │
 *             next piece    └──┘  └────────────────────┘
 *             when the last       it has not taken 1 MiB, or
 *             one is taken        the stream was interrupted: gap
 * ```
 *
 * A client that catches up is slower than the others, and in nobody's way. It is cut when it takes nothing for ten seconds,
 * or was live and falls behind all that the ring has.
 */
export class LiveConnection implements Member {
  readonly filter: LiveFilter;
  private readonly passes: ((event: LiveEvent) => boolean) | undefined;
  private readonly ending = new AbortController();
  /** While it catches up: the next sequence that the client has not been sent. 0: not located yet. */
  private cursor = 0;
  /** The place of the last event before the cursor, once it has come by one. */
  private reached: Position | undefined;
  private isLive = false;
  /** Which try to locate or to catch up it is: whatever was begun in an earlier one ends when it sees that. */
  private turn = 0;

  constructor(
    readonly request: LiveRequest,
    private readonly sink: LiveSink,
    private readonly surroundings: LiveSurroundings,
  ) {
    this.filter = request.filter;
    this.passes = compileFilter(request.filter);
  }

  get format(): LiveSink['format'] {
    return this.sink.format;
  }

  /** Begins to deliver; done when the client is live, or gone. */
  async start(): Promise<void> {
    const turn = (this.turn += 1);
    const found = await this.findStart();
    if (turn !== this.turn) return;
    if (typeof found === 'number') this.cursor = found;
    else this.skipTo(this.surroundings.feed.nextSequence, found);
    await this.catchUp(false);
  }

  /** Gets events as they come. */
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

  /** Gets an event once more, out of the order of positions; it is dropped for a client that is slow at the moment. */
  replay(event: LiveEvent): 'sent' | 'dropped' | 'not wanted' {
    if (this.passes && !this.passes(event)) return 'not wanted';
    const frame = frameOf(event, this.format);
    if (this.sink.bufferedBytes + frame.length > maxBufferedBytes) return 'dropped';
    this.sink.write(frame);
    return 'sent';
  }

  /** The stream does not go on where the client is. */
  interrupt({ reason, nextSequence }: Interruption): void {
    if (this.ending.signal.aborted) return;
    // One that is being located is not anywhere yet: what was found so far may be wrong now.
    if (this.cursor === 0) {
      void this.start();
    } else {
      this.skipTo(nextSequence, reason);
      void this.catchUp(false);
    }
  }

  /**
   * Tells a client that wants to know that the connection is alive, and where it is: at the head, when it is live. One that
   * catches up, and wants little of very much, would take the silence for the end, and begin at its old position again.
   */
  keepAlive(head: Position): void {
    const isWanted = this.request.keepAlive || this.format === 'server_sent';
    const position = this.isLive ? head : this.reached;
    if (isWanted && position && this.sink.bufferedBytes === 0)
      this.sink.write(keepAliveFrame(position, this.format));
  }

  /** Ends it; `left`: the client has gone. */
  close(reason: CloseReason | 'left', text?: string): void {
    if (this.ending.signal.aborted) return;
    this.ending.abort();
    this.endTurn();
    if (reason !== 'left') this.sink.close(reason, text);
    this.surroundings.onClosed(this, reason);
  }

  /** Where the client reads on, or why it cannot; waits for as long as the broker is away. */
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
        // The history says in the log why.
        await this.pause();
      }
    }
    return feed.nextSequence;
  }

  /** Sends everything from the cursor on, at the client's pace, until there is no more; then it is live. */
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
      // Others have their turn, too.
      await nextTurn();
    }
  }

  /** Waits until the client has taken what it was sent; false when this catching up is over. */
  private async isReady(turn: number): Promise<boolean> {
    const isDrained = await this.sink.drained();
    if (turn !== this.turn) return false;
    if (!isDrained) this.close('too_slow');
    return isDrained;
  }

  /** What comes next; undefined while the broker does not say. */
  private async readPage(): Promise<HistoryPage | undefined> {
    const { feed, history } = this.surroundings;
    const { ringBuffer, nextSequence } = feed;
    if (!ringBuffer) return undefined;
    if (this.cursor >= ringBuffer.firstSequence) {
      const events = ringBuffer.slice(this.cursor, ringBufferPage);
      const last = events.length < ringBufferPage ? undefined : events.at(-1);
      return shorten({ kind: 'events', events, next: last ? last.sequence + 1 : nextSequence });
    }
    try {
      const place = { epoch: ringBuffer.epoch, from: this.cursor, until: ringBuffer.firstSequence - 1 };
      const page = await history.read(place, this.ending.signal);
      return page.kind === 'events' ? shorten(page) : page;
    } catch {
      // The history says in the log why.
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
    const { fanOut, feed } = this.surroundings;
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

  /** Ends whatever it does: being located, catching up, or being live. */
  private endTurn(): void {
    this.turn += 1;
    if (this.isLive) this.surroundings.fanOut.leave(this);
    this.isLive = false;
  }

  private async pause(): Promise<void> {
    await pause(retryMs, this.ending.signal);
  }
}

/** As much of a page as a client may keep; what comes behind that is read again. */
function shorten(page: EventsPage): EventsPage {
  let bytes = 0;
  const end = page.events.findIndex(({ record }) => (bytes += record.length) >= heldBytes);
  const last = page.events[end];
  if (!last || end === page.events.length - 1) return page;
  return { ...page, events: page.events.slice(0, end + 1), next: last.sequence + 1 };
}
