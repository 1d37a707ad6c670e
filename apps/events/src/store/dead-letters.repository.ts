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

// Maximum length of a reason: long enough for PostgreSQL's error messages, which may quote the data, and short enough for a list of 100
// reasons to fit in a NATS message.
const maxReasonLength = 500;

/** The latest reason why an event is a dead letter, and the time of the first failure. */
interface Rejection {
  /** PostgreSQL's error code; empty for a message that cannot be read, and for an event that arrived too late. */
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

// Maximum number of rows per statement, so that each statement is short.
const maxRemoved = 1_000;

/** An event cannot be stored because it was received before the retention period. */
export class ExpiredEventError extends Error {
  constructor(id: string) {
    const received = new Date(receivedAt(id)).toISOString();
    super(
      `The event was received at ${received}, before the retention period. If this time is wrong, check the clock of the receiver. ` +
        'To store the event, raise RETENTION_DAYS and retry.',
    );
  }
}

/** Stores dead letters: rejected events, unreadable messages, and events that arrived too late. */
@Injectable()
export class DeadLettersRepository {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Keeps an event as a dead letter and returns the dead letter's id. If the message is already a dead letter, updates the reason and
   * returns the id of the existing dead letter.
   */
  async add(row: EventRow, rejection: unknown): Promise<string> {
    const { id, eventId, eventType, eventSource, origin, eventData, idempotencyKey } = row;
    // `list` reads only the fields before the event data, so these fields come first.
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
      `${describeCause(rejection, state)}, kept it as a dead letter for an owner to retry or discard`,
    );
    return deadLetterId;
  }

  /** Deletes the dead letters that first failed before this time, in milliseconds since 1970. */
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
   * Returns one page, newest event first, and the `before` of the next page (null at the end). Does not return the payloads (up to 256 KiB
   * each).
   */
  async list({ pageSize, before }: ListDeadLettersRequest): Promise<ListDeadLettersReply> {
    // Cuts the message as text, because PostgreSQL's JSON functions reject a document that contains an escaped NUL. Quotes within a JSON
    // string have a backslash, so this text can only be the start of the `eventData` member.
    const rows = await this.dataSource.query<(Rejection & { names: string })[]>(
      `SELECT split_part(convert_from(message, 'UTF8'), ',"eventData":', 1) || '}' AS names, ${rejectionColumns}
       FROM dead_letters WHERE event_id < $1 ORDER BY event_id DESC LIMIT $2`,
      [before ?? highestId, pageSize + 1],
    );
    const messages = rows.slice(0, pageSize).map(({ names, ...rejection }) => ({
      ...(JSON.parse(names) as Omit<StoredEvent, 'eventData'>), // Safe cast: `add` wrote it, in this order
      ...rejection,
    }));
    return { messages, next: rows.length > pageSize ? (messages.at(-1)?.id ?? null) : null };
  }

  /** Finds a dead letter by the id of its event. Returns null when there is none. */
  async find(id: string): Promise<StoredDeadLetter | null> {
    const [row] = await this.dataSource.query<(Rejection & { key: string; message: Buffer })[]>(
      `SELECT key, message, ${rejectionColumns} FROM dead_letters WHERE event_id = $1 ORDER BY key LIMIT 1`,
      [id],
    );
    if (!row) return null;
    const { message, ...found } = row;
    return { ...found, event: JSON.parse(message.toString()) as NewEvent }; // Safe cast: `add` wrote it
  }

  /** Deletes a dead letter, if it still exists. */
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

/**
 * Replaces characters that PostgreSQL cannot store. The message of a JSON error may contain them, because it quotes the text around the
 * error.
 */
function toStorableText(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

function describeCause(rejection: unknown, state: string): string {
  if (rejection instanceof ExpiredEventError) return 'an event arrived after its retention period';
  return state ? 'the database rejected an event' : 'cannot read an accepted message';
}
