import { Inject, Injectable } from '@nestjs/common';
import {
  findNeighbours,
  isStorableText,
  printEventRecord,
  toLimitConditions,
  type ListEventsRequest,
  type PageReply,
  type ReadLimits,
  type StoredEvent,
} from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { validate as isUuid } from 'uuid';
import { EventIndexBuilder } from '../store/event-index-builder.service.js';
import type { IndexReadiness } from '../store/event-indexes.js';
import { EventStatistics } from './event-statistics.js';
import { rangeOf } from './id-range.js';
import type { EventPage } from './page-builder.js';
import { PageReader } from './page-reader.js';
import { planScan } from './scan-plan.js';

/** A page of stored events, newest first, and the positions of its neighboring pages. */
export interface EventListPage extends PageReply {
  events: StoredEvent[];
}

/** A page as a JSON array of records, newest first, and the positions of its neighboring pages. */
export interface RecordListPage extends PageReply {
  records: Buffer;
}

// Maximum size of the event data of a page. The reply must fit into one NATS message of 1 MiB. Encoding the data as a JSON string can
// double its size. The names of 100 events (255 + 255 + 32 characters of up to 6 bytes as JSON) add up to 320 KiB.
const eventsBudgetBytes = 320 * 1024;

// Maximum size of a page's records, which are sent without further encoding. Positions and headers add a few hundred bytes.
const recordsBudgetBytes = 960 * 1024;

/** The columns of `StoredEvent`, named like its fields. */
const eventColumns = `id, event_id AS "eventId", event_type AS "eventType", event_source AS "eventSource", origin, event_data::text AS "eventData", (extract(epoch FROM occurred_at) * 1000)::float8 AS "occurredAt"`;

/** Reads pages of events by keyset, and single events by id. */
@Injectable()
export class EventListRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly pages: PageReader,
    private readonly statistics: EventStatistics,
    @Inject(EventIndexBuilder) private readonly indexes: IndexReadiness,
  ) {}

  /** Reads one page of at most 1,000 events with 320 KiB of data. A larger event is alone on its page. */
  async list(request: ListEventsRequest): Promise<EventListPage> {
    const { events, continueAfter } = await this.read(request, eventsBudgetBytes);
    const neighbours = findNeighbours(request.position, { firstId: events[0]?.id, continueAfter });
    return { events: isOlder(request) ? events : events.reverse(), ...neighbours };
  }

  /** Records are not encoded a second time, so this page can hold more data than one from `list`. */
  async listRecords(request: ListEventsRequest): Promise<RecordListPage> {
    const { events, continueAfter } = await this.read(request, recordsBudgetBytes);
    const { records, isCut } = printRecords(events);
    const lastId = events[records.length - 1]?.id;
    const neighbours = findNeighbours(request.position, {
      firstId: events[0]?.id,
      continueAfter: isCut && lastId !== undefined ? lastId : continueAfter,
    });
    return { records: Buffer.from(`[${(isOlder(request) ? records : records.reverse()).join(',')}]`), ...neighbours }; // prettier-ignore
  }

  /** Finds an event within the limits by `id`, or else by `event_id`. */
  async find(id: string, limits: ReadLimits): Promise<StoredEvent | null> {
    const found = isUuid(id) ? await this.findById(id, limits) : undefined;
    return found ?? (await this.findByEventId(id, limits)) ?? null;
  }

  private async read(request: ListEventsRequest, bytes: number): Promise<EventPage> {
    const { pageSize } = request;
    const range = rangeOf(request);
    const plan = range && planScan(request, { statistics: this.statistics.current, indexes: this.indexes });
    if (!range || !plan) return { events: [], continueAfter: null };
    return this.pages.read(plan, { range, isOlder: isOlder(request), pageSize, bytes });
  }

  private async findById(id: string, limits: ReadLimits): Promise<StoredEvent | undefined> {
    return this.findFirst(limits, [id], 'id = $1');
  }

  /**
   * Returns the newest event with this `event_id`. Several events can share one, because the store accepts a message again that the
   * platform redelivers after more than a day.
   */
  private async findByEventId(eventId: string, limits: ReadLimits): Promise<StoredEvent | undefined> {
    if (!isStorableText(eventId)) return undefined;
    // The `event_id` of a test event is a UUID in lower case. Other ids are case-sensitive.
    const spelling = isUuid(eventId) ? eventId.toLowerCase() : eventId;
    return this.findFirst(limits, [eventId, spelling], 'event_id IN ($1, $2)');
  }

  /** Returns the newest event within the limits that meets `condition`, which refers to `id` or `event_id`. */
  private async findFirst(
    limits: ReadLimits,
    values: readonly string[],
    condition: string,
  ): Promise<StoredEvent | undefined> {
    const within = toLimitConditions(limits);
    const conditions = within.map(({ columns }, index) => {
      const list = `$${values.length + 1 + index}::text[]`;
      return ` AND (${columns.map(({ name }) => `${name} = ANY (${list})`).join(' OR ')})`;
    });
    // With ORDER BY id alone, the planner might scan all events by id.
    const [event] = await this.dataSource.query<StoredEvent[]>(
      `SELECT ${eventColumns} FROM events WHERE ${condition}${conditions.join('')} ORDER BY event_id DESC, id DESC LIMIT 1`,
      [...values, ...within.map((limit) => limit.values)],
    );
    return event;
  }
}

function isOlder({ position }: ListEventsRequest): boolean {
  return position?.direction !== 'newer';
}

/**
 * Prints the records of events until the next record would exceed `recordsBudgetBytes`. The statement limits only the data of the events; a
 * record also contains the event's ids, type, and source.
 */
function printRecords(events: readonly StoredEvent[]): { records: string[]; isCut: boolean } {
  const records: string[] = [];
  let bytes = 0;
  for (const event of events) {
    const record = printEventRecord(event);
    bytes += Buffer.byteLength(record) + 1;
    if (bytes > recordsBudgetBytes && records.length > 0) return { records, isCut: true };
    records.push(record);
  }
  return { records, isCut: false };
}
