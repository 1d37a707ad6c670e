import { Injectable } from '@nestjs/common';
import {
  firstIdAt,
  isStorableText,
  type EventFilters,
  type ListEventsReply,
  type ListEventsRequest,
  type ListPosition,
  type StoredEvent,
} from '@stream-events/contracts';
import { DataSource, type EntityManager } from 'typeorm';
import { planEventScan, type Condition, type EventScan } from './event-scan.js';

// Rows that a page may look at in search of those that match conditions no index answers.
const scanBudgetRows = 10_000;
// A reply is one NATS message of at most 1 MiB, and JSON text grows up to twofold as a JSON string.
const pageBudgetBytes = 384 * 1024;

const columns = `id, event_id AS "eventId", event_type AS "eventType", event_source AS "eventSource", origin, event_data::text AS "eventData"`;

interface Page {
  /** In the order of travel. */
  events: StoredEvent[];
  /** The last id that the page has dealt with, when there may be more beyond it. */
  continueAfter: string | null;
}

interface PageRow extends StoredEvent {
  found: string;
  bytes: string;
}

/** Reads events: pages by keyset, one by id. */
@Injectable()
export class EventListRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** One page, newest first, with the positions of its neighbours. */
  async list(request: ListEventsRequest): Promise<ListEventsReply> {
    const position = request.position ?? null;
    if (!canMatch(request.filters)) return { events: [], next: null, previous: null };
    const isOlder = position?.direction !== 'newer';
    const { events, continueAfter } = await this.readPage(request, isOlder);

    const ahead: ListPosition | null =
      continueAfter === null
        ? null
        : { direction: isOlder ? 'older' : 'newer', id: continueAfter, inclusive: false };
    const behind = position && turnAround(position, events[0]);
    return isOlder
      ? { events, next: ahead, previous: behind }
      : { events: events.reverse(), next: behind, previous: ahead };
  }

  /** An event by its id, or a test event by its `event_id`. */
  async find(id: string): Promise<StoredEvent | null> {
    const rows = await this.dataSource.query<StoredEvent[]>(
      `SELECT ${columns} FROM events WHERE id = $1::uuid
       UNION ALL
       SELECT ${columns} FROM events WHERE event_id = $1::uuid::text AND origin = 'test'
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

/** The SQL of one page: the index scan in order of id, bounded by rows, and what is left of it after the rest. */
class ScanQuery {
  private readonly values: unknown[] = [];
  private readonly where: string;
  private readonly valuesOfScan: number;
  private readonly rest: string;
  private readonly order: string;

  constructor(
    private readonly request: ListEventsRequest,
    scan: EventScan,
    isOlder: boolean,
  ) {
    this.order = isOlder ? 'DESC' : 'ASC';
    this.where = this.join([
      ...scan.driving.map((condition) => this.equals(condition)),
      ...this.range(request),
    ]);
    this.valuesOfScan = this.values.length;
    this.rest = this.join(scan.rest.map((condition) => this.equals(condition)));
  }

  /** The page's rows and one more, cut where they would outgrow a message. */
  async rows(manager: EntityManager): Promise<PageRow[]> {
    const { order } = this;
    const budget = this.rest === 'true' ? '' : `ORDER BY id ${order} LIMIT ${scanBudgetRows}`;
    return manager.query<PageRow[]>(
      `SELECT * FROM (
         SELECT ${columns}, count(*) OVER () AS found,
                sum(octet_length(event_data::text)) OVER (ORDER BY id ${order} ROWS UNBOUNDED PRECEDING) AS bytes
         FROM (
           SELECT * FROM (SELECT * FROM events WHERE ${this.where} ${budget}) AS scanned
           WHERE ${this.rest} ORDER BY id ${order} LIMIT ${this.request.pageSize + 1}
         ) AS matching
       ) AS measured
       WHERE bytes <= ${pageBudgetBytes} OR bytes = octet_length("eventData")
       ORDER BY id ${order}`,
      this.values,
    );
  }

  /** The id at which the budget of rows ended; null when there were fewer rows. */
  async endOfBudget(manager: EntityManager): Promise<string | null> {
    const rows = await manager.query<{ id: string }[]>(
      `SELECT id FROM events WHERE ${this.where} ORDER BY id ${this.order} OFFSET ${scanBudgetRows - 1} LIMIT 1`,
      this.values.slice(0, this.valuesOfScan),
    );
    return rows[0]?.id ?? null;
  }

  private range({ filters, position }: ListEventsRequest): string[] {
    const bounds: string[] = [];
    if (filters.since !== undefined) bounds.push(`id >= ${this.add(firstIdAt(filters.since))}::uuid`);
    if (filters.until !== undefined) bounds.push(`id < ${this.add(firstIdAt(filters.until))}::uuid`);
    if (position) {
      const operator = (position.direction === 'older' ? '<' : '>') + (position.inclusive ? '=' : '');
      bounds.push(`id ${operator} ${this.add(position.id)}::uuid`);
    }
    return bounds;
  }

  private equals({ column, value }: Condition): string {
    return `${column} = ${this.add(value)}`;
  }

  private add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  private join(conditions: string[]): string {
    return conditions.length > 0 ? conditions.join(' AND ') : 'true';
  }
}

function toPage(rows: PageRow[], pageSize: number): Page {
  const found = Number(rows[0]?.found ?? 0);
  const kept = rows.slice(0, pageSize);
  const events = kept.map(({ found: _found, bytes: _bytes, ...event }) => event);
  return { events, continueAfter: found > kept.length ? (kept.at(-1)?.id ?? null) : null };
}

/** The position that leads back from a page: before its first event, or where an empty page was asked for. */
function turnAround(position: ListPosition, first: StoredEvent | undefined): ListPosition {
  const direction = position.direction === 'older' ? 'newer' : 'older';
  return first
    ? { direction, id: first.id, inclusive: false }
    : { direction, id: position.id, inclusive: !position.inclusive };
}

/** Text that cannot be stored matches nothing. */
function canMatch(filters: EventFilters): boolean {
  return Object.values(filters).every((value: unknown) => typeof value !== 'string' || isStorableText(value));
}
