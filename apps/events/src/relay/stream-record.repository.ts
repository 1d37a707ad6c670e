import { Injectable } from '@nestjs/common';
import { firstIdAt, maxBatchEvents } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { returnToOutbox, type Queries } from './outbox.repository.js';
import type { StreamRecord } from './stream-verdict.js';

/** A stream that takes the place of the one that was known. */
export interface EpochChange {
  epoch: string;
  /** The last sequence that the stream has now. */
  lastSequence: number;
  /** What was acknowledged in the old epoch up to this sequence is on the stream; 0: nothing is. */
  survivingSequence: number;
  /** But for these batches. */
  lostIds: readonly string[];
  /**
   * Publish everything again that was stored since this time (milliseconds since 1970), if not a single batch that was
   * published lately is left on the stream. Undefined: batches that are still known are all there is to publish again.
   */
  missingSince: number | undefined;
}

/** A batch that was published lately. */
export interface RetainedBatch {
  outboxId: string;
  eventIds: string[];
  lastSequence: number;
}

/** Reads the next batches of an epoch in the order of their sequences, from the first one or after this one. */
export type ReadRetained = (epoch: string, after?: RetainedBatch) => Promise<RetainedBatch[]>;

// What a stream acknowledges is on its disk within the sync interval of nats-server, 2 minutes unless configured: more
// than twice that is a safe distance. The statements below say it to PostgreSQL.
const retainedFor = "interval '5 minutes'";
// Rows that a clean-up looks at in one statement, so that it is short.
const maxForgotten = 5_000;
// Batches read at a time: for each of them the broker is asked for a message of up to 256 KiB, all at once.
const maxRead = 100;
// A batch is read into memory as a whole.
const maxRepublishedBytes = 512 * 1024;
// Events that one statement looks at: at 256 KiB each, the most that an event may have, it still ends in time.
const pageSize = 2_560;

/** What is known of the stream: its epoch, what it has acknowledged, and the batches that it may yet lose. */
@Injectable()
export class StreamRecordRepository {
  constructor(private readonly dataSource: DataSource) {}

  read(): Promise<StreamRecord> {
    return readRecord(this.dataSource);
  }

  /**
   * Lets an instance decide about the stream while all others wait, and writes down what changes; a crash (or error)
   * before the end leaves the record as it was.
   *
   * @param decide is asked once nobody else can change the record; without a change nothing is done. The transaction is
   *   open meanwhile, and ended by the database when it is idle for 10 s
   * @returns what was decided, and how many batches have returned to the outbox
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

  /** Notes that this sequence was acknowledged. */
  async raise(epoch: string, lastSequence: number): Promise<void> {
    await this.dataSource.query(
      'UPDATE event_stream SET last_sequence = $2 WHERE epoch = $1 AND last_sequence < $2',
      [epoch, lastSequence],
    );
  }

  /** Has those batches published again that were sent to the stream of another epoch; says how many. */
  async returnStrays(): Promise<number> {
    // Nearly always there are none, which the two ends of the index tell.
    const [row] = await this.dataSource.query<{ hasStrays: boolean }[]>(
      `SELECT EXISTS (SELECT FROM event_stream WHERE epoch <> (SELECT min(epoch) FROM published_batches)
                                                  OR epoch <> (SELECT max(epoch) FROM published_batches)) AS "hasStrays"`,
    );
    if (!row?.hasStrays) return 0;
    return returnToOutbox(this.dataSource, 'epoch <> (SELECT epoch FROM event_stream)', []);
  }

  /**
   * Forgets batches that cannot be lost any more: published over 5 minutes ago, and on the stream since, as a check has
   * just found. Batches get old in the order of their ids, by and large, so the first ones are looked at.
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
  if (!row) throw new Error('the table event_stream has lost its row: restore a backup, or insert it again');
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
 * Until when batches may have been forgotten, in milliseconds since 1970: 5 minutes ago (with a minute for clocks that
 * differ), or later when there is none that young; now, when there is none at all.
 */
async function readEndOfForgotten(queries: Queries): Promise<number> {
  const [row] = await queries.query<{ until: number }[]>(
    `SELECT extract(epoch FROM CASE WHEN count(*) = 0 THEN now() ELSE
       least(now(), greatest(now() - ${retainedFor}, min(published_at)) + interval '1 minute')
     END)::float * 1000 AS until FROM published_batches`,
  );
  return row?.until ?? Date.now();
}

/** Puts events of the store into the outbox that were received in this time; says how many batches they make. */
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
