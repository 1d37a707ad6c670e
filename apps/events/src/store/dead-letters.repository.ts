import { Inject, Injectable } from '@nestjs/common';
import {
  receivedAt,
  type ListDeadLettersReply,
  type ListDeadLettersRequest,
  type NewEvent,
  type StoredEvent,
} from '@stream-events/contracts';
import { sqlState } from '@stream-events/database';
import { LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import type { EventRow } from './write-batch.js';

// Maximum length of a reason. Long enough for PostgreSQL's messages, which may quote data; short enough that a list of 100 reasons fits in
// a NATS message.
const maxReasonLength = 500;

/** Why an event is a dead letter (the latest reason), and when it became one. */
interface Rejection {
  /** PostgreSQL's error code; empty when the message is unreadable or the event arrived too late. */
  sqlState: string;
  reason: string;
  /** Milliseconds since 1970. */
  failedAt: number;
}

/** A dead letter with everything that a retry needs. */
export interface StoredDeadLetter extends Rejection {
  key: string;
  event: NewEvent;
}

const rejectionColumns = `sql_state AS "sqlState", reason,
  floor(extract(epoch FROM failed_at) * 1000)::float AS "failedAt"`;

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

// Maximum number of rows per statement; keeps each statement short.
const maxRemoved = 1_000;

/** The event was received before the retention period, so the store does not accept it. */
export class ExpiredEventError extends Error {
  constructor(id: string) {
    const received = new Date(receivedAt(id)).toISOString();
    super(
      `The event was received at ${received}, before the retention period. If this time is wrong, check the clock of the receiver. ` +
        'To store the event, raise RETENTION_DAYS and retry.',
    );
  }
}

/** Stores and finds dead letters. */
@Injectable()
export class DeadLettersRepository {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Adds a dead letter and returns its id. If the message already is a dead letter, updates the reason and returns the id of that dead
   * letter.
   */
  async add(row: EventRow, rejection: unknown): Promise<string> {
    const { id, eventId, eventType, eventSource, origin, eventData, idempotencyKey } = row;
    // These fields must precede the event data, because `list` reads only what comes before it.
    const head = { id, eventId, eventType, eventSource, origin };
    const { occurredAt = null, delivery } = row;
    const event: NewEvent = { ...head, eventData, idempotencyKey, occurredAt, delivery };
    const state = sqlState(rejection) ?? '';
    const reason = toStorableText(rejection instanceof Error ? rejection.message : String(rejection));
    const [kept] = await this.dataSource.query<{ event_id: string }[]>(
      `INSERT INTO dead_letters (key, event_id, message, sql_state, reason) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (key) DO UPDATE SET sql_state = excluded.sql_state, reason = excluded.reason
       RETURNING event_id`,
      [row.key, id, Buffer.from(JSON.stringify(event)), state, reason.slice(0, maxReasonLength)],
    );
    const deadLetterId = kept?.event_id ?? id;
    this.logger.error(
      { eventId: deadLetterId, sqlState: state },
      `${describeCause(rejection, state)}, keeping the message as a dead letter for an owner to retry or discard`,
    );
    return deadLetterId;
  }

  /** Deletes dead letters whose first failure was before this time (milliseconds since 1970). */
  async removeFailedBefore(time: number): Promise<void> {
    let removed = 0;
    for (let count = maxRemoved; count === maxRemoved; removed += count) {
      [, count] = await this.dataSource.query<[unknown, number]>(
        `DELETE FROM dead_letters WHERE key IN (SELECT key FROM dead_letters WHERE failed_at < $1 LIMIT ${maxRemoved})`,
        [new Date(time)],
      );
    }
    if (removed > 0)
      this.logger.warn(
        { deadLetters: removed },
        'deleted expired dead letters that no owner had retried or discarded',
      );
  }

  /**
   * Returns one page, sorted by event id, newest first. `next` is the `before` of the next page, or null at the end. Leaves out the
   * payloads, which take up to 256 KiB each. If several dead letters have the same event id, returns the one that `find` returns.
   */
  async list({ pageSize, before }: ListDeadLettersRequest): Promise<ListDeadLettersReply> {
    // Cut the message as text: PostgreSQL's JSON functions reject documents that contain an escaped NUL. Quotes inside a JSON string are
    // escaped, so this text only matches the start of the `eventData` member.
    const rows = await this.dataSource.query<(Rejection & { names: string })[]>(
      `SELECT DISTINCT ON (event_id) split_part(convert_from(message, 'UTF8'), ',"eventData":', 1) || '}' AS names, ${rejectionColumns}
       FROM dead_letters WHERE event_id < $1 ORDER BY event_id DESC, key LIMIT $2`,
      [before ?? highestId, pageSize + 1],
    );
    const messages = rows.slice(0, pageSize).map(({ names, ...rejection }) => ({
      ...(JSON.parse(names) as Omit<StoredEvent, 'eventData'>), // Safe cast: `add` wrote it, in this order
      ...rejection,
    }));
    return { messages, next: rows.length > pageSize ? (messages.at(-1)?.id ?? null) : null };
  }

  /** Finds a dead letter by its event's id; null when there is none. */
  async find(id: string): Promise<StoredDeadLetter | null> {
    const [row] = await this.dataSource.query<(Rejection & { key: string; message: Buffer })[]>(
      `SELECT key, message, ${rejectionColumns} FROM dead_letters WHERE event_id = $1 ORDER BY key LIMIT 1`,
      [id],
    );
    if (!row) return null;
    const { message, ...found } = row;
    return { ...found, event: JSON.parse(message.toString()) as NewEvent }; // Safe cast: `add` wrote it
  }

  /** Does nothing if the dead letter is already gone. */
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

/** Replaces characters that PostgreSQL cannot store, which occur in JSON errors that quote the text around the fault. */
function toStorableText(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

function describeCause(rejection: unknown, state: string): string {
  if (rejection instanceof ExpiredEventError) return 'an event is older than the retention period';
  return state ? 'the database rejected an event' : 'cannot read an accepted message';
}
