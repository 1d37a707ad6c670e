import { EventRingBuffer } from './event-ring-buffer.js';
import type { StreamMessage } from './events-stream-client.js';
import { LiveEvent } from './live-event.js';
import { checkOfStart, positionOf, type Position } from './position.js';
import { RecentIds } from './recent-ids.js';
import { maxRingBufferEvents } from '../live-limits.js';

// After an epoch changed, the events service publishes what it cannot know to be on the stream: after a restored backup up
// to a day, so that it takes some minutes. Old events are repetitions until none has come for so long.
const repetitionMs = 60_000;

/** What was read of one epoch of the stream, and how far. */
export class FeedTrack {
  readonly ringBuffer: EventRingBuffer;
  /** What was delivered, in former epochs too: the events service publishes some of it again. */
  private readonly ids: RecentIds;
  /** Events that are older than the oldest one known when the epoch began... */
  private readonly oldestId: string;
  /** ...are repetitions until then. */
  private repetitionsUntil: number;
  private next: number;
  /** Where it stood when the stream was looked at the last time, and had lost nothing from there on. */
  private lookedAt: number;
  /** The last message that was read. */
  private lastSequence = 0;
  private lastId: string | undefined;

  constructor(
    readonly epoch: string,
    /** Where it begins. */
    from: number,
    former?: FeedTrack,
    /** Milliseconds of a clock that never goes back. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.ringBuffer = new EventRingBuffer(epoch, from - 1);
    this.ids = new RecentIds(maxRingBufferEvents, former?.ids);
    this.oldestId = this.ids.oldest ?? '';
    this.repetitionsUntil = now() + repetitionMs;
    this.next = from;
    this.lookedAt = from;
  }

  /** The sequence after all that was read. */
  get nextSequence(): number {
    return this.next;
  }

  /** The sequence to begin at after a disturbance: that of the last message, which must be the same one then. */
  get resumeSequence(): number {
    return this.lastId === undefined ? this.next : this.lastSequence;
  }

  /** The place of the last event that was read. */
  get head(): Position {
    const { epoch, lastSequence: sequence, lastId: id } = this;
    if (id === undefined) return { epoch, sequence: this.next - 1, check: checkOfStart };
    return positionOf({ epoch, sequence, id });
  }

  /** Whether a message shows that the stream is not any more what was read. */
  isContradictedBy({ sequence, id }: StreamMessage): boolean {
    return sequence < this.lastSequence || (sequence === this.lastSequence && id !== this.lastId);
  }

  /** Notes that the stream still begins at or before the sequence that is read next. */
  noteLook(): void {
    this.lookedAt = this.next;
  }

  /** Whether what is missing before a sequence may have left the stream unread. Else it was removed from between others. */
  isMissingBefore(sequence: number): boolean {
    return sequence > this.next && this.next !== this.lookedAt;
  }

  /** Takes the next message; answers the event when it is a new one. */
  take({ sequence, id, data }: StreamMessage): LiveEvent | undefined {
    if (sequence < this.next) return undefined;
    this.next = sequence + 1;
    if (id === undefined) return undefined;
    this.lastSequence = sequence;
    this.lastId = id;
    if (this.ids.has(id) || this.isRepetition(id)) return undefined;
    this.ids.add(id);
    const event = new LiveEvent(id, copy(data), this.epoch, sequence);
    this.ringBuffer.add(event);
    return event;
  }

  /** Notes that there is nothing more up to a sequence. */
  passTo(sequence: number): void {
    this.next = Math.max(this.next, sequence + 1);
  }

  /** Ids are in the order of time, as text too. */
  private isRepetition(id: string): boolean {
    if (id >= this.oldestId || this.now() > this.repetitionsUntil) return false;
    this.repetitionsUntil = this.now() + repetitionMs;
    return true;
  }
}

/** Memory of its own: a part of a pool that is shared with others would keep all of it. */
function copy(data: Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(data.length);
  own.set(data);
  return own;
}
