import type { LiveEvent } from './live-event.js';
import { maxRingBufferBytes, maxRingBufferEvents } from '../live-limits.js';

/** The newest events of one epoch of the EVENTS stream, in order. Only repeated and erased events are left out. */
export class EventRingBuffer {
  private events: LiveEvent[] = [];
  /** Index of the oldest event. `shift()` would move all other events each time. */
  private oldest = 0;
  private bytes = 0;

  constructor(
    readonly epoch: string,
    /** The sequence before the first event of the ring buffer. */
    private before: number,
  ) {}

  /** The first sequence from which the ring buffer is complete. */
  get firstSequence(): number {
    return this.before + 1;
  }

  get last(): LiveEvent | undefined {
    return this.events.at(-1);
  }

  /** Returns the event at exactly this sequence. */
  at(sequence: number): LiveEvent | undefined {
    const event = this.events[this.indexOf(sequence)];
    return event?.sequence === sequence ? event : undefined;
  }

  add(event: LiveEvent): void {
    this.events.push(event);
    this.bytes += event.record.length;
    while (this.events.length - this.oldest > maxRingBufferEvents || this.bytes > maxRingBufferBytes)
      this.dropOldest();
  }

  /** Removes the events with these sequences, for an erasure. Clients can still resume at the position of a removed event. */
  remove(sequences: ReadonlySet<number>): void {
    if (sequences.size === 0) return;
    this.events = this.events.slice(this.oldest).filter(({ sequence }) => !sequences.has(sequence));
    this.oldest = 0;
    this.bytes = this.events.reduce((sum, { record }) => sum + record.length, 0);
  }

  /** Returns up to `limit` events from this sequence on. */
  slice(from: number, limit: number): LiveEvent[] {
    const index = this.indexOf(from);
    return this.events.slice(index, index + limit);
  }

  private dropOldest(): void {
    const event = this.events[this.oldest];
    if (!event) return;
    this.oldest += 1;
    this.before = event.sequence;
    this.bytes -= event.record.length;
    // Copying the array for each dropped event would be slow, but dropped events stay in memory until the array is copied. Copy it once
    // 1,024 events, or half of its events, have been dropped.
    if (this.oldest < 1_024 && this.oldest < this.events.length / 2) return;
    this.events = this.events.slice(this.oldest);
    this.oldest = 0;
  }

  /** Returns the index of the first event at or after a sequence. */
  private indexOf(sequence: number): number {
    let low = this.oldest;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.events[middle]?.sequence ?? 0) < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
