import { isJsonObject } from '@stream-events/contracts';
import { matches } from './arriving-events.js';
import type { ListQuery } from './list-query.js';

// Events to check per query. A page has 50, but an outdated page lacks the newest ones first.
const kept = 5;

/** Keeps the newest acknowledged events of each query. Checks that pages contain them. */
export class AcknowledgedEvents {
  private readonly newest: (readonly string[])[];

  constructor(private readonly queries: readonly ListQuery[]) {
    this.newest = queries.map(() => []);
  }

  /** Call when the service has acknowledged an event. */
  note(id: string, fields: ListQuery): void {
    this.queries.forEach((query, index) => {
      if (matches(query, fields))
        this.newest[index] = [...(this.newest[index] ?? []), id].sort().slice(-kept);
    });
  }

  /** Ids that a page must contain if it is requested now, unless 50 newer events match. */
  expectedOn(queryIndex: number): readonly string[] {
    return this.newest[queryIndex] ?? [];
  }
}

/** Expected ids that a first page lacks. None if newer events fill the page. */
export function findMissing(body: Buffer, expected: readonly string[]): string[] {
  // Search the text first: parsing each page would cost more CPU than the gateway needs for the page.
  const absent = expected.filter((id) => !body.includes(id));
  if (absent.length === 0) return [];
  const page: unknown = JSON.parse(body.toString());
  if (!isJsonObject(page) || !Array.isArray(page.results)) return absent;
  // Test events have no id.
  const ids = page.results.flatMap((event: unknown) =>
    isJsonObject(event) && typeof event.id === 'string' ? [event.id] : [],
  );
  const oldest = ids.at(-1);
  if (page.next === null || oldest === undefined) return absent;
  return absent.filter((id) => id > oldest);
}
