import { Injectable } from '@nestjs/common';
import {
  findNeighbours,
  isStorableText,
  type EventFilters,
  type ListEventsReply,
  type ListEventsRequest,
  type StoredEvent,
} from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { validate as isUuid } from 'uuid';
import { planEventScan } from './event-scan.js';
import { eventColumns, ScanQuery, type PageRow } from './scan-query.js';

interface Page {
  /** In the order of travel. */
  events: StoredEvent[];
  /** The last id that the page covers when there may be more rows after it; otherwise null. */
  continueAfter: string | null;
}

/** Reads events: pages by keyset, single events by id. */
@Injectable()
export class EventListRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Reads one page, newest first, with the positions of the pages before and after it. */
  async list(request: ListEventsRequest): Promise<ListEventsReply> {
    if (!canMatch(request.filters)) return { events: [], next: null, previous: null };
    const isOlder = request.position?.direction !== 'newer';
    const { events, continueAfter } = await this.readPage(request, isOlder);
    const neighbours = findNeighbours(request.position, { firstId: events[0]?.id, continueAfter });
    return { events: isOlder ? events : events.reverse(), ...neighbours };
  }

  /** Finds an event by its id, or else by its `event_id`. */
  async find(id: string): Promise<StoredEvent | null> {
    const found = isUuid(id) ? await this.findById(id) : undefined;
    return found ?? (await this.findByEventId(id)) ?? null;
  }

  private async findById(id: string): Promise<StoredEvent | undefined> {
    const [event] = await this.dataSource.query<StoredEvent[]>(
      `SELECT ${eventColumns} FROM events WHERE id = $1`,
      [id],
    );
    return event;
  }

  /** Returns the newest match: a message that the platform redelivers after more than a day is a second event. */
  private async findByEventId(eventId: string): Promise<StoredEvent | undefined> {
    if (!isStorableText(eventId)) return undefined;
    // The `event_id` of a test event is a UUID in lower case. For any other text, the case matters.
    const spelling = isUuid(eventId) ? eventId.toLowerCase() : eventId;
    // With ORDER BY id alone, the planner might scan all events in order of id.
    const [event] = await this.dataSource.query<StoredEvent[]>(
      `SELECT ${eventColumns} FROM events WHERE event_id IN ($1, $2) ORDER BY event_id DESC, id DESC LIMIT 1`,
      [eventId, spelling],
    );
    return event;
  }

  private async readPage(request: ListEventsRequest, isOlder: boolean): Promise<Page> {
    const scan = planEventScan(request.filters);
    const query = new ScanQuery(request, scan, isOlder);
    if (scan.rest.length === 0) return toPage(await query.rows(this.dataSource.manager), request.pageSize);
    // Both queries must see the same rows, or an event that arrives in between would be skipped or returned twice.
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const page = toPage(await query.rows(manager), request.pageSize);
      return page.continueAfter === null
        ? { ...page, continueAfter: await query.endOfBudget(manager) }
        : page;
    });
  }
}

function toPage(rows: PageRow[], pageSize: number): Page {
  const found = Number(rows[0]?.found ?? 0);
  const kept = rows.slice(0, pageSize);
  const events = kept.map(({ found: _found, bytes: _bytes, ...event }) => event);
  return { events, continueAfter: found > kept.length ? (kept.at(-1)?.id ?? null) : null };
}

/** A text that cannot be stored matches nothing. */
function canMatch(filters: EventFilters): boolean {
  return Object.values(filters).every((value: unknown) => typeof value !== 'string' || isStorableText(value));
}
