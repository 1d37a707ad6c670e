import { Injectable } from '@nestjs/common';
import type { PublishableEvent } from '@stream-events/contracts';
import { readDespiteDrops } from '@stream-events/database';
import { DataSource, type EntityManager } from 'typeorm';

/** A stored batch that is not yet on the stream. */
export interface OutboxBatch {
  outboxId: string;
  events: readonly PublishableEvent[];
}

/** A batch that was claimed and read from the outbox. */
export interface ClaimedBatch extends OutboxBatch {
  /** How many of the batch's events can no longer be published, because the store no longer has them. */
  removed: number;
}

/** A batch that the stream has acknowledged. `lastSequence` is the highest sequence among its events. */
export interface AcknowledgedBatch {
  outboxId: string;
  lastSequence: number;
  /** See `includesLateEvent`. */
  isLate: boolean;
}

/** The data source, or one of its transactions. */
export type Queries = Pick<EntityManager, 'query'>;

// Maximum number of rows that one statement moves, so that it ends well within its time limit.
const maxReturned = 5_000;

/** Stored batches that the stream has not acknowledged yet. */
@Injectable()
export class OutboxRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Claims up to `limit` unclaimed batches for 10 s, and reads their events. Two instances never hold claims on the same batch.
   * MATERIALIZED makes the query select the rows once. A subquery in WHERE could run several times, and claim more than `limit` batches.
   * If another instance has claimed a row since the statement began, PostgreSQL checks `claimed_until` again and skips the row.
   *
   * @param limit a small number: each batch can hold up to 2 MiB of events in memory
   * @param except batches that this instance is publishing
   */
  async claim(limit: number, except: readonly string[]): Promise<ClaimedBatch[]> {
    const entries = await this.dataSource.query<{ id: string; event_ids: string[] }[]>(
      `WITH free AS MATERIALIZED (
         -- A claim lasts at most 10 s. A later end dates from before the clock was set back, so ignore that claim.
         SELECT id FROM outbox
         WHERE (claimed_until < now() OR claimed_until > now() + interval '11 seconds') AND id <> ALL($2::bigint[])
         ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
       ), claimed AS (
         UPDATE outbox SET claimed_until = now() + interval '10 seconds' FROM free WHERE outbox.id = free.id
         RETURNING outbox.id, event_ids
       )
       SELECT id, event_ids FROM claimed ORDER BY id`,
      [limit, except],
    );
    if (entries.length === 0) return [];
    const ids = entries.flatMap((entry) => entry.event_ids);
    const events = await readDespiteDrops(() => this.readEvents(ids));
    return entries.map((entry) => {
      const found = entry.event_ids.flatMap((id) => events.get(id) ?? []);
      return { outboxId: entry.id, events: found, removed: entry.event_ids.length - found.length };
    });
  }

  /**
   * Moves acknowledged batches from the outbox to `published_batches` in one statement. Deletes a batch instead if retention or an erasure
   * has removed all its events.
   *
   * @param epoch the epoch that the stream had when the batches were sent, as far as the sender knew
   */
  async retain(batches: readonly AcknowledgedBatch[], epoch: string): Promise<void> {
    const late = batches.filter(({ isLate }) => isLate).map(({ lastSequence }) => lastSequence);
    if (late.length > 0) await this.recordLate(Math.max(...late));
    await this.dataSource.query(
      `WITH acknowledged AS (
         SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS acknowledged (id, last_sequence)
       ), moved AS (
         DELETE FROM outbox USING acknowledged WHERE outbox.id = acknowledged.id
         RETURNING outbox.id, event_ids, last_sequence
       )
       INSERT INTO published_batches (id, event_ids, epoch, last_sequence)
       SELECT id, event_ids, $3, last_sequence FROM moved WHERE last_sequence > 0`,
      [batches.map((batch) => batch.outboxId), batches.map((batch) => batch.lastSequence), epoch],
    );
  }

  /** Makes batches claimable at once. Moves those in `published_batches` back to the outbox. */
  async takeBack(outboxIds: readonly string[]): Promise<void> {
    await this.dataSource.query('UPDATE outbox SET claimed_until = now() WHERE id = ANY($1::bigint[])', [
      outboxIds,
    ]);
    await returnToOutbox(this.dataSource, 'id = ANY($1::bigint[])', [outboxIds]);
  }

  /** Whether the event is in the outbox: the stream has not acknowledged the event, or the relay has not recorded this yet. */
  async holds(eventId: string): Promise<boolean> {
    const [row] = await this.dataSource.query<{ isHeld: boolean }[]>(
      'SELECT EXISTS (SELECT FROM outbox WHERE $1 = ANY(event_ids)) AS "isHeld"',
      [eventId],
    );
    return row?.isHeld === true;
  }

  /** Counts the batches in the outbox, and measures how long ago the most overdue one became claimable (0 when none is claimable). */
  async measure(): Promise<{ count: number; overdueSeconds: number }> {
    const [row] = await this.dataSource.query<{ count: number; overdueSeconds: number }[]>(
      `SELECT count(*)::int AS count,
              greatest(0, coalesce(extract(epoch FROM now() - min(claimed_until)), 0))::float AS "overdueSeconds" FROM outbox`,
    );
    return row ?? { count: 0, overdueSeconds: 0 };
  }

  /** Records that events up to this sequence may be late. `StreamTrimmer` deletes them from the stream when they expire. */
  private async recordLate(sequence: number): Promise<void> {
    await this.dataSource.query('UPDATE event_stream SET late_sequence = $1 WHERE late_sequence < $1', [
      sequence,
    ]);
  }

  private async readEvents(ids: readonly string[]): Promise<Map<string, PublishableEvent>> {
    const events = await this.dataSource.query<PublishableEvent[]>(
      `SELECT id, event_id AS "eventId", event_type AS "eventType", event_source AS "eventSource", origin,
              event_data::text AS "eventData", broadcaster_user_id AS "broadcasterUserId", raid_to_id AS "raidToId",
              (extract(epoch FROM occurred_at) * 1000)::float8 AS "occurredAt"
       FROM events WHERE id = ANY($1::uuid[])`,
      [ids],
    );
    return new Map(events.map((event) => [event.id, event]));
  }
}

/**
 * Moves the published batches that meet the condition back to the outbox, where any instance may claim them at once. The batches keep their
 * ids. Skips rows that another instance is moving. Returns how many it moved.
 *
 * @param condition an SQL condition on `published_batches`
 */
export async function returnToOutbox(
  queries: Queries,
  condition: string,
  parameters: unknown[],
): Promise<number> {
  for (let total = 0; ;) {
    const [returned] = await queries.query<{ count: number }[]>(
      `WITH lost AS MATERIALIZED (
         SELECT id FROM published_batches WHERE ${condition} ORDER BY id LIMIT ${maxReturned} FOR UPDATE SKIP LOCKED
       ), deleted AS (
         DELETE FROM published_batches USING lost WHERE published_batches.id = lost.id
         RETURNING published_batches.id, event_ids
       ), returned AS (
         INSERT INTO outbox (id, event_ids, claimed_until) OVERRIDING SYSTEM VALUE
         SELECT id, event_ids, now() FROM deleted
         RETURNING 1
       )
       SELECT count(*)::int AS count FROM returned`,
      parameters,
    );
    const count = returned?.count ?? 0;
    total += count;
    if (count < maxReturned) return total;
  }
}
