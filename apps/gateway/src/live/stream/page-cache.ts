import type { LiveEvent } from './live-event.js';

/** The events at the sequences of a page. */
export interface EventPage {
  events: readonly LiveEvent[];
  /** The page contains every event from this sequence on. */
  firstSequence: number;
  /** The page contains every event up to this sequence. */
  lastSequence: number;
}

// Estimated memory of an event without its record, and of a page without its events.
const eventBytes = 256;
const pageBytes = 1_024;

/**
 * Caches the most recently used pages, up to `maxBytes` in total. The newest page stays even if it alone is larger. `maxBytes` does not
 * count the frames encoded from the events, which take up to three times as many bytes.
 */
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
    // Move the page to the end. A Map keeps the order of insertion, and the first pages are evicted first.
    this.pages.delete(key);
    this.pages.set(key, page);
    return page;
  }

  set(key: string, page: EventPage): void {
    this.delete(key);
    this.pages.set(key, page);
    this.bytes += sizeOf(page);
    for (const oldest of this.pages.keys()) {
      // Keep the newest page even if it is too large, because clients read it in pieces.
      if (this.bytes <= this.maxBytes || oldest === key) return;
      this.delete(oldest);
    }
  }

  clear(): void {
    this.pages.clear();
    this.bytes = 0;
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
