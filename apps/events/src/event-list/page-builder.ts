import type { StoredEvent } from '@stream-events/contracts';
import type { StatementResult } from './statement-runner.js';

/** A page in the order of travel. */
export interface EventPage {
  events: StoredEvent[];
  /** The id after which there may be more events. Null: the page ends the list. */
  continueAfter: string | null;
}

/** Collects the events of a page from the results of several statements. */
export class PageBuilder {
  private readonly events: StoredEvent[] = [];
  private bytes = 0;
  private isCut = false;

  constructor(private readonly limits: { pageSize: number; bytes: number }) {}

  /** The number of events that are missing, plus the one that shows that there is a next page. */
  get missingRows(): number {
    return this.limits.pageSize + 1 - this.events.length;
  }

  /** The number of bytes that the data of the missing events may have. */
  get missingBytes(): number {
    return Math.max(this.limits.bytes - this.bytes, 0);
  }

  get isFull(): boolean {
    return this.isCut || this.missingRows <= 0;
  }

  add({ events, isCut }: StatementResult): void {
    for (const event of events) {
      const bytes = Buffer.byteLength(event.eventData);
      // A statement returns its first event even when the event is too large.
      if (this.events.length > 0 && bytes > this.missingBytes) {
        this.isCut = true;
        return;
      }
      this.events.push(event);
      this.bytes += bytes;
    }
    this.isCut = isCut;
  }

  /** @param reached where the page ends although it is not full; null at the end of the list */
  end(reached: string | null): EventPage {
    const events = this.events.slice(0, this.limits.pageSize);
    return { events, continueAfter: this.isFull ? (events.at(-1)?.id ?? null) : reached };
  }
}
