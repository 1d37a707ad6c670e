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
import { planEventScan } from './event-scan.js';
import { eventColumns, ScanQuery, type PageRow } from './scan-query.js';

interface Page {
  /** In the order of travel. */
  events: StoredEvent[];
  /** The last id that the page has dealt with, when there may be more beyond it. */
  continueAfter: string | null;
}

/** Reads events: pages by keyset, one by id. */
@Injectable()
export class EventListRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** One page, newest first, with the positions of its neighbours. */
  async list(request: ListEventsRequest): Promise<ListEventsReply> {
    if (!canMatch(request.filters)) return { events: [], next: null, previous: null };
    const isOlder = request.position?.direction !== 'newer';
    const { events, continueAfter } = await this.readPage(request, isOlder);
    const neighbours = findNeighbours(request.position, { firstId: events[0]?.id, continueAfter });
    return { events: isOlder ? events : events.reverse(), ...neighbours };
  }

  /** An event by its id, or a test event by its `event_id`. */
  async find(id: string): Promise<StoredEvent | null> {
    const rows = await this.dataSource.query<StoredEvent[]>(
      `SELECT ${eventColumns} FROM events WHERE id = $1::uuid
       UNION ALL
       SELECT ${eventColumns} FROM events WHERE event_id = $1::uuid::text AND origin = 'test'
       LIMIT 1`,
      [id],
    );
    return rows[0] ?? null;
  }

  private async readPage(request: ListEventsRequest, isOlder: boolean): Promise<Page> {
    const scan = planEventScan(request.filters);
    const query = new ScanQuery(request, scan, isOlder);
    if (scan.rest.length === 0) return toPage(await query.rows(this.dataSource.manager), request.pageSize);
    // Both questions must see the same rows: what arrives between them would be passed over or come twice.
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

/** Text that cannot be stored matches nothing. */
function canMatch(filters: EventFilters): boolean {
  return Object.values(filters).every((value: unknown) => typeof value !== 'string' || isStorableText(value));
}
