import { firstIdAt, type ListEventsRequest, type StoredEvent } from '@stream-events/contracts';
import type { EntityManager } from 'typeorm';
import type { Condition, EventScan } from './event-scan.js';

// Maximum number of rows that a page scans for conditions without an index.
const scanBudgetRows = 10_000;
// A reply is one NATS message of at most 1 MiB. JSON text can double in size as a JSON string, and the names of 100 events
// (255 + 255 + 32 characters of up to 6 bytes as JSON) take up to 340 KiB more.
const pageBudgetBytes = 320 * 1024;

/** The columns of `StoredEvent`, named like its fields. */
export const eventColumns = `id, event_id AS "eventId", event_type AS "eventType", event_source AS "eventSource", origin, event_data::text AS "eventData", (extract(epoch FROM occurred_at) * 1000)::float8 AS "occurredAt"`;

/** A row of a page. */
export interface PageRow extends StoredEvent {
  /** The number of rows of the page before it was cut to its byte budget. */
  found: string;
  bytes: string;
}

/** One end of a range of ids. */
interface Bound {
  id: string;
  isInclusive: boolean;
}

/**
 * Builds the SQL of one page: scans one index in its order, within a row budget, and applies the other conditions to these rows.
 *
 * The driving columns are in row comparisons, `(event_type, id) < ('raid', …)`, between two bounds of the same value. With
 * `event_type = 'raid'`, the planner may choose any index in order of id. For a value that is common but has no recent
 * events, it would then read most of the table.
 */
export class ScanQuery {
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
    const keys = [...scan.driving.map((condition) => condition.column), 'id'];
    this.order = keys.map((key) => `${key} ${isOlder ? 'DESC' : 'ASC'}`).join(', ');
    this.where = this.bound(scan.driving, keys);
    this.valuesOfScan = this.values.length;
    this.rest = scan.rest
      .map((condition) => `${condition.column} = ${this.add(condition.value)}`)
      .join(' AND ');
  }

  /** Reads the page's rows and one more, and cuts them before they exceed the size of a message. */
  async rows(manager: EntityManager): Promise<PageRow[]> {
    const direction = this.order.endsWith('DESC') ? 'DESC' : 'ASC';
    const limit = `ORDER BY ${this.order} LIMIT ${this.request.pageSize + 1}`;
    const matching = this.rest
      ? `SELECT * FROM (SELECT * FROM events WHERE ${this.where} ORDER BY ${this.order} LIMIT ${scanBudgetRows}) AS scanned
         WHERE ${this.rest} ${limit}`
      : `SELECT * FROM events WHERE ${this.where} ${limit}`;
    return manager.query<PageRow[]>(
      `SELECT * FROM (
         SELECT ${eventColumns}, count(*) OVER () AS found,
                sum(octet_length(event_data::text)) OVER (ORDER BY id ${direction} ROWS UNBOUNDED PRECEDING) AS bytes
         FROM (${matching}) AS matching
       ) AS measured
       WHERE bytes <= ${pageBudgetBytes} OR bytes = octet_length("eventData")
       ORDER BY id ${direction}`,
      this.values,
    );
  }

  /** Returns the id at which the row budget ended, or null when there were fewer rows. */
  async endOfBudget(manager: EntityManager): Promise<string | null> {
    const rows = await manager.query<{ id: string }[]>(
      `SELECT id FROM events WHERE ${this.where} ORDER BY ${this.order} OFFSET ${scanBudgetRows - 1} LIMIT 1`,
      this.values.slice(0, this.valuesOfScan),
    );
    return rows[0]?.id ?? null;
  }

  private bound(driving: readonly Condition[], keys: readonly string[]): string {
    const lower = lowerBound(this.request);
    const upper = upperBound(this.request);
    const values = driving.map((condition) => this.add(condition.value));
    const from = `${this.add(lower.id)}::uuid`;
    const to = `${this.add(upper.id)}::uuid`;
    return [
      // These two bounds select the partitions. They are the only bounds when no column drives the scan.
      `id ${lower.isInclusive ? '>=' : '>'} ${from}`,
      `id ${upper.isInclusive ? '<=' : '<'} ${to}`,
      ...(driving.length > 0 ? [`(${keys.join(', ')}) >= (${[...values, from].join(', ')})`] : []),
      ...(driving.length > 0 ? [`(${keys.join(', ')}) <= (${[...values, to].join(', ')})`] : []),
      // Some indexes leave nulls out. The planner cannot infer from a row comparison that the column is not null.
      ...driving.map((condition) => `${condition.column} IS NOT NULL`),
    ].join(' AND ');
  }

  private add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

const lowestId = '00000000-0000-0000-0000-000000000000';
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

function lowerBound({ filters, position }: ListEventsRequest): Bound {
  const since = { id: filters.since === undefined ? lowestId : firstIdAt(filters.since), isInclusive: true };
  if (position?.direction !== 'newer' || position.id < since.id) return since;
  return { id: position.id, isInclusive: position.inclusive };
}

function upperBound({ filters, position }: ListEventsRequest): Bound {
  const until =
    filters.until === undefined
      ? { id: highestId, isInclusive: true }
      : { id: firstIdAt(filters.until), isInclusive: false };
  if (position?.direction !== 'older' || position.id > until.id) return until;
  return { id: position.id, isInclusive: position.inclusive && position.id !== until.id };
}
