import { Inject, Injectable } from '@nestjs/common';
import type {
  ListDeadLettersReply,
  ListDeadLettersRequest,
  NewEvent,
  StoredEvent,
} from '@stream-events/contracts';
import { sqlState } from '@stream-events/database';
import { LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import type { EventRow } from './write-batch.js';

// Enough for PostgreSQL's own words, which may quote much of ours; 100 of them in a list fit in a NATS message.
const maxReasonLength = 500;

/** Why an event was refused the last time, and when the first time. */
interface Refusal {
  sqlState: string;
  reason: string;
  /** Milliseconds since 1970. */
  failedAt: number;
}

/** A dead letter with all that is needed to try it again. */
export interface StoredDeadLetter extends Refusal {
  key: string;
  event: NewEvent;
}

const refusalColumns = `sql_state AS "sqlState", reason,
  floor(extract(epoch FROM failed_at) * 1000)::float AS "failedAt"`;

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Keeps events aside that the database refuses. */
@Injectable()
export class DeadLettersRepository {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Keeps an event aside, and says under which id: the same message again has the first, and the latest refusal. */
  async add(row: EventRow, refusal: unknown): Promise<string> {
    const { id, eventId, eventType, eventSource, origin, eventData, idempotencyKey } = row;
    const event: NewEvent = { id, eventId, eventType, eventSource, origin, eventData, idempotencyKey };
    const state = sqlState(refusal) ?? '';
    const reason = refusal instanceof Error ? refusal.message : String(refusal);
    const [parked] = await this.dataSource.query<{ event_id: string }[]>(
      `INSERT INTO dead_letters (key, event_id, message, sql_state, reason) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (key) DO UPDATE SET sql_state = excluded.sql_state, reason = excluded.reason
       RETURNING event_id`,
      [row.key, id, Buffer.from(JSON.stringify(event)), state, reason.slice(0, maxReasonLength)],
    );
    const deadLetterId = parked?.event_id ?? id;
    this.logger.error(
      { eventId: deadLetterId, sqlState: state },
      'event parked: the database refuses its content; an owner may look at it, retry or discard it',
    );
    return deadLetterId;
  }

  /** One page, newest event first. The payloads, up to 256 KiB each, stay in the database. */
  async list({ pageSize, before }: ListDeadLettersRequest): Promise<ListDeadLettersReply> {
    // Cut as text: PostgreSQL's JSON functions refuse a whole document for an escaped NUL in it. Within a JSON string
    // the quotes have a backslash, so that this is where the member begins.
    const rows = await this.dataSource.query<(Refusal & { names: string })[]>(
      `SELECT split_part(convert_from(message, 'UTF8'), ',"eventData":', 1) || '}' AS names, ${refusalColumns}
       FROM dead_letters WHERE event_id < $1 ORDER BY event_id DESC LIMIT $2`,
      [before ?? highestId, pageSize + 1],
    );
    const messages = rows.slice(0, pageSize).map(({ names, ...refusal }) => ({
      ...(JSON.parse(names) as Omit<StoredEvent, 'eventData'>), // holds: `add` wrote it, in this order
      ...refusal,
    }));
    return { messages, next: rows.length > pageSize ? (messages.at(-1)?.id ?? null) : null };
  }

  /** The dead letter of an event. */
  async find(id: string): Promise<StoredDeadLetter | null> {
    const [row] = await this.dataSource.query<(Refusal & { key: string; message: Buffer })[]>(
      `SELECT key, message, ${refusalColumns} FROM dead_letters WHERE event_id = $1 ORDER BY key LIMIT 1`,
      [id],
    );
    if (!row) return null;
    const { message, ...parked } = row;
    return { ...parked, event: JSON.parse(message.toString()) as NewEvent }; // holds: `add` wrote it
  }

  /** Forgets a dead letter, if it is still there. */
  async remove(key: string): Promise<void> {
    await this.dataSource.query('DELETE FROM dead_letters WHERE key = $1', [key]);
  }

  async count(): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      'SELECT count(*)::int AS count FROM dead_letters',
    );
    return row?.count ?? 0;
  }
}
