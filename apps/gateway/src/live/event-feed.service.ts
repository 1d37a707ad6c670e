import { Injectable } from '@nestjs/common';
import type { GapReason } from './frames.js';
import type { EventRing } from './event-ring.js';
import type { LiveEvent } from './live-event.js';
import type { Position } from './position.js';

/** The stream does not go on where it was read up to. */
export interface Interruption {
  reason: GapReason;
  /** The sequence, of the new ring, where reading goes on. */
  nextSequence: number;
}

/** What the feed tells. */
export interface FeedListener {
  /** A new event, which the ring has already. */
  onEvent(event: LiveEvent): void;
  /** There is another ring. What it has already is not told of one by one: it is read from there. */
  onInterrupted(interruption: Interruption): void;
}

/** Reads EVENTS once for all clients of this process. */
@Injectable()
export class EventFeed {
  /** The newest events; undefined until the stream was read for the first time. */
  get ring(): EventRing | undefined {
    return undefined;
  }

  /** The place of the newest event that was read; undefined like `ring`. */
  get head(): Position | undefined {
    return undefined;
  }

  /** The sequence after the newest one that was read. */
  get nextSequence(): number {
    return 1;
  }

  /** Tells of everything from now on. */
  listen(_listener: FeedListener): void {
    // not built yet
  }

  /**
   * Waits until everything is read that was on the stream when this was called; for as long as the stream cannot be read.
   *
   * @throws the signal's reason
   */
  untilCurrent(_signal: AbortSignal): Promise<void> {
    throw new Error('not built yet');
  }
}
