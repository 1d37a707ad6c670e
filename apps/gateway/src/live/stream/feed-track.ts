import { EventRingBuffer } from './event-ring-buffer.js';
import type { StreamMessage } from './events-stream-client.js';
import { LiveEvent } from './live-event.js';
import { checkOfStart, positionOf, type Position } from './position.js';
import { RecentIds } from './recent-ids.js';
import { RecordMemory } from './record-memory.js';
import { maxRingBufferEvents } from '../live-limits.js';

// After an epoch change, the events service republishes every event that may be missing on the stream. After a backup is restored, this can
// be a whole day of events and take minutes. Therefore, old events count as repetitions until none has arrived for this long.
const repetitionMs = 60_000;

/** Tracks which events were read from one epoch of the stream, and up to which sequence. */
export class FeedTrack {
  readonly ringBuffer: EventRingBuffer;
  private readonly records = new RecordMemory();
  /** The ids of the last 20,000 new events, to recognize repetitions. Includes earlier epochs: the events service republishes events. */
  private readonly ids: RecentIds;
  /** The oldest id that was known when the epoch began. Until `repetitionsUntil`, events with older ids count as repetitions. */
  private readonly oldestId: string;
  private repetitionsUntil: number;
  private next: number;
  /** The value of `next` when a consumer was last created. At that time, the stream still had everything from this sequence on. */
  private lookedAt: number;
  /** The last event that was read, even if it was a repetition. */
  private lastSequence = 0;
  private lastId: string | undefined;

  constructor(
    readonly epoch: string,
    /** The first sequence to read. */
    from: number,
    former?: FeedTrack,
    /** Monotonic time in milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.ringBuffer = new EventRingBuffer(epoch, from - 1);
    this.ids = new RecentIds(maxRingBufferEvents, former?.ids);
    this.oldestId = this.ids.oldest ?? '';
    this.repetitionsUntil = now() + repetitionMs;
    this.next = from;
    this.lookedAt = from;
  }

  /** The sequence after the last message that was read. */
  get nextSequence(): number {
    return this.next;
  }

  /** Where to resume after a disturbance: at the last event that was read, to check that it is still the same event. */
  get resumeSequence(): number {
    return this.lastId === undefined ? this.next : this.lastSequence;
  }

  /** The position of the last event that was read. */
  get head(): Position {
    const { epoch, lastSequence: sequence, lastId: id } = this;
    if (id === undefined) return { epoch, sequence: this.next - 1, check: checkOfStart };
    return positionOf({ epoch, sequence, id });
  }

  /** Whether a message proves that the stream is no longer the stream that was read. */
  isContradictedBy({ sequence, id }: StreamMessage): boolean {
    return sequence < this.lastSequence || (sequence === this.lastSequence && id !== this.lastId);
  }

  /** Records that the stream still begins at or before the next sequence. */
  noteLook(): void {
    this.lookedAt = this.next;
  }

  /**
   * Whether messages before this sequence may have left the stream unread. If false, any hole comes from messages that were removed one by
   * one.
   */
  isMissingBefore(sequence: number): boolean {
    return sequence > this.next && this.next !== this.lookedAt;
  }

  /** Takes the next message. Returns its event if the event is new. */
  take({ sequence, id, data, delivery }: StreamMessage): LiveEvent | undefined {
    if (sequence < this.next) return undefined;
    this.next = sequence + 1;
    if (id === undefined) return undefined;
    this.lastSequence = sequence;
    this.lastId = id;
    if (this.ids.has(id) || this.isRepetition(id)) return undefined;
    this.ids.add(id);
    const event = new LiveEvent(id, this.records.copy(data), this.epoch, sequence);
    event.delivery = delivery;
    this.ringBuffer.add(event);
    return event;
  }

  /** Records that the stream has no unread messages up to this sequence. */
  passTo(sequence: number): void {
    this.next = Math.max(this.next, sequence + 1);
  }

  /** Whether an event counts as a repetition. Compares ids as text, because UUIDv7 ids sort by time. */
  private isRepetition(id: string): boolean {
    if (id >= this.oldestId || this.now() > this.repetitionsUntil) return false;
    this.repetitionsUntil = this.now() + repetitionMs;
    return true;
  }
}
