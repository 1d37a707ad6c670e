import type { StoredEvent } from '@stream-events/contracts';
import type { StatementResult } from './statement-runner.js';

/** A page, with its events in the direction of paging. */
export interface EventPage {
  events: StoredEvent[];
  /** More events may follow after this id. Null at the end of the list. */
  continueAfter: string | null;
}

/** Collects the events of a page from the results of several statements. */
export class PageBuilder {
  private readonly events: StoredEvent[] = [];
  private bytes = 0;
  private isCut = false;

  constructor(private readonly limits: { pageSize: number; bytes: number }) {}

  /** How many rows the page still needs, including one row that shows whether a next page exists. */
  get missingRows(): number {
    return this.limits.pageSize + 1 - this.events.length;
  }

  /** The bytes left for event data. */
  get missingBytes(): number {
    return Math.max(this.limits.bytes - this.bytes, 0);
  }

  get isFull(): boolean {
    return this.isCut || this.missingRows <= 0;
  }

  add({ events, isCut }: StatementResult): void {
    for (const event of events) {
      const bytes = Buffer.byteLength(event.eventData);
      // The first event of a page may exceed the byte budget.
      if (this.events.length > 0 && bytes > this.missingBytes) {
        this.isCut = true;
        return;
      }
      this.events.push(event);
      this.bytes += bytes;
    }
    this.isCut = isCut;
  }

  /** @param reached the id after which the next page continues if this page is not full; null at the end of the list */
  end(reached: string | null): EventPage {
    const events = this.events.slice(0, this.limits.pageSize);
    return { events, continueAfter: this.isFull ? (events.at(-1)?.id ?? null) : reached };
  }
}
