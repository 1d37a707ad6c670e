import type { EventOrigin, StoredEvent } from '@stream-events/contracts';

interface Page {
  next: string | null;
  results: {
    id: string;
    event_id: string | null;
    event_type: string;
    event_source: string;
    event_data: unknown;
    origin: EventOrigin;
  }[];
}

/** Reads the whole event list, as a client would. Parsing can change the text of `eventData`, so compare it with `isSameJson`. */
export async function readEventList(gatewayUrl: string, token: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  let url: string | null = `${gatewayUrl}/api/v1/platform-events?page_size=100`;
  while (url !== null) {
    const response: Response = await fetch(url, { headers: { authorization: `Token ${token}` } });
    if (!response.ok) throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
    const page = (await response.json()) as Page; // Safe cast: the checker compares every field that it uses
    for (const record of page.results) {
      events.push({
        id: record.id,
        eventId: record.event_id,
        eventType: record.event_type,
        eventSource: record.event_source,
        origin: record.origin,
        eventData: JSON.stringify(record.event_data),
      });
    }
    url = page.next;
  }
  return events;
}

/** Whether two texts are the same JSON value. */
export function isSameJson(a: string, b: string): boolean {
  return a === b || JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b));
}
