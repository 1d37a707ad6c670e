import { isJsonObject } from '@stream-events/contracts';
import { matches } from './arriving-events.js';
import type { ListQuery } from './list-query.js';

// A page has 50 events; the newest few are the ones that an outdated page would lack.
const kept = 5;

/** Remembers the newest acknowledged events of each query, and checks that pages contain them. */
export class AcknowledgedEvents {
  private readonly newest: (readonly string[])[];

  constructor(private readonly queries: readonly ListQuery[]) {
    this.newest = queries.map(() => []);
  }

  /** Notes that the service has acknowledged an event. */
  note(id: string, fields: ListQuery): void {
    this.queries.forEach((query, index) => {
      if (matches(query, fields))
        this.newest[index] = [...(this.newest[index] ?? []), id].sort().slice(-kept);
    });
  }

  /** The ids that a page must contain when its request is sent now, unless 50 newer events match. */
  expectedOn(queryIndex: number): readonly string[] {
    return this.newest[queryIndex] ?? [];
  }
}

/** Returns the expected ids that a first page lacks without being full of newer events. */
export function findMissing(body: Buffer, expected: readonly string[]): string[] {
  // Parsing each page would cost the load generator more than the page costs the gateway.
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
