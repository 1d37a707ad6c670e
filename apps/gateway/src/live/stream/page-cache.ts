import type { LiveEvent } from './live-event.js';

/** What the stream had at the sequences of a page. */
export interface EventPage {
  events: readonly LiveEvent[];
  /** It is complete from here... */
  firstSequence: number;
  /** ...up to here. */
  lastSequence: number;
}

// Beside its record each event takes some memory, and each page.
const eventBytes = 256;
const pageBytes = 1_024;

/** The pages that were used last, as many as fit, or a large one. Frames made of their events come on top: up to three times as much. */
export class PageCache {
  private readonly pages = new Map<string, EventPage>();
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get size(): number {
    return this.pages.size;
  }

  get(key: string): EventPage | undefined {
    const page = this.pages.get(key);
    if (!page) return undefined;
    // A map keeps the order of insertion: this one is the last to go now.
    this.pages.delete(key);
    this.pages.set(key, page);
    return page;
  }

  set(key: string, page: EventPage): void {
    this.delete(key);
    this.pages.set(key, page);
    this.bytes += sizeOf(page);
    for (const oldest of this.pages.keys()) {
      // The newest one is kept however large it is: it is read in pieces.
      if (this.bytes <= this.maxBytes || oldest === key) return;
      this.delete(oldest);
    }
  }

  private delete(key: string): void {
    const page = this.pages.get(key);
    if (!page) return;
    this.pages.delete(key);
    this.bytes -= sizeOf(page);
  }
}

function sizeOf({ events }: EventPage): number {
  return events.reduce((sum, { record }) => sum + record.length + eventBytes, pageBytes);
}
