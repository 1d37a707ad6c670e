import { Injectable } from '@nestjs/common';
import { firstIdAt, maxBatchEvents } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { returnToOutbox, type Queries } from './outbox.repository.js';
import type { StreamRecord } from './stream-verdict.js';

/** Describes a new epoch: the stream is a different one, or it has lost events. */
export interface EpochChange {
  epoch: string;
  /** The stream's current last sequence. */
  lastSequence: number;
  /** Up to this sequence, the stream still holds what it acknowledged in the old epoch; 0 when it holds nothing. */
  survivingSequence: number;
  /** The lost batches at or below `survivingSequence`. */
  lostIds: readonly string[];
  /**
   * The time from which events may be missing (milliseconds since 1970). If the stream has kept none of the batches in `published_batches`,
   * the relays also republish older events that were received since this time. Undefined: they republish only these batches.
   */
  missingSince: number | undefined;
}

/** A recently published batch. */
export interface RetainedBatch {
  outboxId: string;
  eventIds: string[];
  lastSequence: number;
}

/** Reads the next batches of an epoch in order of their sequences, from the start or after the batch `after`. */
export type ReadRetained = (epoch: string, after?: RetainedBatch) => Promise<RetainedBatch[]>;

// SQL: how long to retain published batches. nats-server writes acknowledged messages to disk within its sync interval, by default 2
// minutes. More than twice that is a safe margin.
const retainedFor = "interval '5 minutes'";
// Maximum number of rows per cleanup statement; keeps each statement short.
const maxForgotten = 5_000;
// Maximum number of batches per read. `StreamCheck` reads one message of up to 256 KiB per batch from the broker, all in parallel.
const maxRead = 100;
// Maximum size of a republished batch without its first event. The relay reads a batch into memory as a whole.
const maxRepublishedBytes = 512 * 1024;
// Maximum number of events per statement: even with the largest events (256 KiB), it ends within its time limit.
const pageSize = 2_560;

/** The database's record of the stream: its epoch, the highest acknowledged sequence, and the batches that the stream may still lose. */
@Injectable()
export class StreamRecordRepository {
  constructor(private readonly dataSource: DataSource) {}

  read(): Promise<StreamRecord> {
    return readRecord(this.dataSource);
  }

  /**
   * Locks the record, calls `decide`, and applies the change that `decide` returns. The lock lets only one instance at a time decide about
   * the stream. A crash or an error before the commit leaves the record unchanged.
   *
   * @param decide runs under the lock; the database aborts the transaction after 10 s without a statement
   * @returns the decision, and how many batches moved back to the outbox
   */
  async change<Decision extends { change: EpochChange | undefined }>(
    decide: (record: StreamRecord, readRetained: ReadRetained) => Promise<Decision>,
  ): Promise<{ decision: Decision; returned: number }> {
    return this.dataSource.transaction(async (transaction) => {
      await transaction.query('SELECT 1 FROM event_stream FOR UPDATE');
      const record = await readRecord(transaction);
      const decision = await decide(record, (epoch, after) => readRetained(transaction, epoch, after));
      const returned = decision.change ? await applyChange(transaction, record, decision.change) : 0;
      return { decision, returned };
    });
  }

  /** Raises the highest acknowledged sequence of this epoch to `lastSequence`. */
  async raise(epoch: string, lastSequence: number): Promise<void> {
    await this.dataSource.query(
      'UPDATE event_stream SET last_sequence = $2 WHERE epoch = $1 AND last_sequence < $2',
      [epoch, lastSequence],
    );
  }

  /** Returns the sequence up to which the stream may have late events (see `includesLateEvent`); 0 when it has none. */
  async readLateSequence(): Promise<number> {
    const [row] = await this.dataSource.query<{ sequence: string }[]>(
      'SELECT late_sequence AS sequence FROM event_stream',
    );
    return Number(row?.sequence ?? 0);
  }

  /** Moves batches that were sent under another epoch back to the outbox, and returns how many there were. */
  async returnStrays(): Promise<number> {
    // Normally there are no such batches. The smallest and largest epochs in the index show this cheaply.
    const [row] = await this.dataSource.query<{ hasStrays: boolean }[]>(
      `SELECT EXISTS (SELECT FROM event_stream WHERE epoch <> (SELECT min(epoch) FROM published_batches)
                                                  OR epoch <> (SELECT max(epoch) FROM published_batches)) AS "hasStrays"`,
    );
    if (!row?.hasStrays) return 0;
    return returnToOutbox(this.dataSource, 'epoch <> (SELECT epoch FROM event_stream)', []);
  }

  /**
   * Deletes batches that can no longer be lost: a check has just found them on the stream, and they were published over 5 minutes ago.
   * Reads in order of id, because the oldest batches have the lowest ids.
   */
  async forgetSafe(epoch: string, lastSequence: number): Promise<void> {
    for (let count = maxForgotten; count === maxForgotten;) {
      [, count] = await this.dataSource.query<[unknown, number]>(
        `DELETE FROM published_batches WHERE id = ANY(ARRAY(
           SELECT id FROM (SELECT * FROM published_batches ORDER BY id LIMIT ${maxForgotten}) AS oldest
           WHERE epoch = $1 AND last_sequence <= $2 AND published_at < now() - ${retainedFor}
         ))`,
        [epoch, lastSequence],
      );
    }
  }
}

async function readRecord(queries: Queries): Promise<StreamRecord> {
  const [row] = await queries.query<{ epoch: string | null; lastSequence: string }[]>(
    `SELECT epoch, greatest(last_sequence,
       (SELECT max(published.last_sequence) FROM published_batches published WHERE published.epoch = stream.epoch)
     ) AS "lastSequence" FROM event_stream stream`,
  );
  if (!row)
    throw new Error(
      'the table event_stream has no row: restore a backup, or run INSERT INTO event_stream DEFAULT VALUES',
    );
  return { epoch: row.epoch, lastSequence: Number(row.lastSequence) };
}

async function readRetained(
  queries: Queries,
  epoch: string,
  after?: RetainedBatch,
): Promise<RetainedBatch[]> {
  const rows = await queries.query<{ id: string; event_ids: string[]; last_sequence: string }[]>(
    `SELECT id, event_ids, last_sequence FROM published_batches
     WHERE epoch = $1 AND last_sequence >= $2 AND (last_sequence, id) > ($2, $3)
     ORDER BY last_sequence, id LIMIT ${maxRead}`,
    [epoch, after?.lastSequence ?? 0, after?.outboxId ?? 0],
  );
  return rows.map((row) => ({
    outboxId: row.id,
    eventIds: row.event_ids,
    lastSequence: Number(row.last_sequence),
  }));
}

async function applyChange(queries: Queries, record: StreamRecord, change: EpochChange): Promise<number> {
  const until = await readEndOfForgotten(queries);
  await queries.query('UPDATE event_stream SET epoch = $1, last_sequence = $2', [
    change.epoch,
    change.lastSequence,
  ]);
  const returned = await returnToOutbox(
    queries,
    'epoch IS DISTINCT FROM $1 OR last_sequence > $2 OR id = ANY($3::bigint[])',
    [record.epoch, change.survivingSequence, change.lostIds],
  );
  const [, survivors] = await queries.query<[unknown, number]>(
    'UPDATE published_batches SET epoch = $1 WHERE epoch = $2 AND last_sequence <= $3 AND id <> ALL($4::bigint[])',
    [change.epoch, record.epoch, change.survivingSequence, change.lostIds],
  );
  if (survivors > 0 || change.missingSince === undefined) return returned;
  return returned + (await publishAgain(queries, change.missingSince, until));
}

/**
 * Returns the time (milliseconds since 1970) up to which the batches of events may already be gone from `published_batches`. This is the
 * later of two times (5 minutes ago, and when the oldest remaining batch was published), plus a minute for clock differences. Never returns
 * a time in the future; returns the current time when no batch remains.
 */
async function readEndOfForgotten(queries: Queries): Promise<number> {
  const [row] = await queries.query<{ until: number }[]>(
    `SELECT extract(epoch FROM CASE WHEN count(*) = 0 THEN now() ELSE
       least(now(), greatest(now() - ${retainedFor}, min(published_at)) + interval '1 minute')
     END)::float * 1000 AS until FROM published_batches`,
  );
  return row?.until ?? Date.now();
}

/**
 * Puts the stored events that were received from `from` until `until` (milliseconds since 1970) into the outbox. Returns the number of
 * batches that it creates.
 */
async function publishAgain(queries: Queries, from: number, until: number): Promise<number> {
  const end = firstIdAt(Math.ceil(until));
  let next: string | null = firstIdAt(Math.floor(from));
  let isFirst = true;
  for (let batches = 0; ;) {
    const rows: { batches: number; lastId: string | null }[] = await queries.query(
      `WITH page AS MATERIALIZED (
         SELECT id, octet_length(event_data::text) AS bytes FROM events
         WHERE id ${isFirst ? '>=' : '>'} $1 AND id < $2 ORDER BY id LIMIT ${pageSize}
       ), measured AS (
         SELECT id, row_number() OVER page_order - 1 AS place, sum(bytes) OVER page_order AS bytes
         FROM page WINDOW page_order AS (ORDER BY id)
       ), written AS (
         INSERT INTO outbox (event_ids, claimed_until) SELECT array_agg(id ORDER BY id), now() FROM measured
         GROUP BY place / ${maxBatchEvents}, bytes / ${maxRepublishedBytes}
         RETURNING 1
       )
       SELECT (SELECT count(*)::int FROM written) AS batches,
              (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS "lastId"`,
      [next, end],
    );
    next = rows[0]?.lastId ?? null;
    if (next === null) return batches;
    batches += rows[0]?.batches ?? 0;
    isFirst = false;
  }
}
