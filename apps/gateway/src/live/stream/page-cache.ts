import type { LiveEvent } from './live-event.js';

/** The events at the sequences of a page. */
export interface EventPage {
  events: readonly LiveEvent[];
  /** First sequence of the range in which the page is complete. */
  firstSequence: number;
  /** Last sequence of that range. */
  lastSequence: number;
}

// Estimated memory of an event in addition to its record, and of a page in addition to its events.
const eventBytes = 256;
const pageBytes = 1_024;

/**
 * Caches the most recently used pages, up to `maxBytes`, or a single larger page. `maxBytes` does not include the frames that are made from
 * the events. The frames take up to three times as many bytes as the events.
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
    // A Map keeps the order of insertion: this page is now the last to be evicted.
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
