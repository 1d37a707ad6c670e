import { Injectable } from '@nestjs/common';
import type { PublishableEvent } from '@stream-events/contracts';
import { readDespiteDrops } from '@stream-events/database';
import { DataSource, type EntityManager } from 'typeorm';

/** A batch of stored events on its way to the stream. */
export interface OutboxBatch {
  outboxId: string;
  events: readonly PublishableEvent[];
}

/** A claimed batch that was read from the outbox. */
export interface ClaimedBatch extends OutboxBatch {
  /** The number of events in the batch that are no longer in the store and therefore cannot be published. */
  removed: number;
}

/** A batch that the stream has acknowledged. `lastSequence` is the highest sequence of its events. */
export interface AcknowledgedBatch {
  outboxId: string;
  lastSequence: number;
  /** See `includesLateEvent`. */
  isLate: boolean;
}

/** The data source, or one of its transactions. */
export type Queries = Pick<EntityManager, 'query'>;

// Maximum number of rows that one statement moves, so that the statement ends well within its time limit.
const maxReturned = 5_000;

/** The outbox: batches that are stored and that the stream has not acknowledged yet. */
@Injectable()
export class OutboxRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Claims up to `limit` batches without a valid claim for 10 s, and returns them with their events. Two instances never claim the same
   * batch: the materialized query selects and locks each row once (a subquery in WHERE could run several times), and a statement that
   * waited for a lock checks `claimed_until` again.
   *
   * @param limit keep it small: each batch brings up to 1 MiB of events into memory
   * @param except batches that this instance is publishing
   */
  async claim(limit: number, except: readonly string[]): Promise<ClaimedBatch[]> {
    const entries = await this.dataSource.query<{ id: string; event_ids: string[] }[]>(
      `WITH free AS MATERIALIZED (
         -- No claim is longer than 10 s. A claim that ends later was written before the clock was set back, so ignore the claim.
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
   * Moves acknowledged batches from the outbox to `published_batches`, in one statement. Deletes a batch if all its events were removed, by
   * retention or an erasure, before they were published.
   *
   * @param epoch the stream's epoch, as the sender knew it when it sent the batches
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

  /** Makes batches claimable immediately. Moves batches in `published_batches` back to the outbox. */
  async takeBack(outboxIds: readonly string[]): Promise<void> {
    await this.dataSource.query('UPDATE outbox SET claimed_until = now() WHERE id = ANY($1::bigint[])', [
      outboxIds,
    ]);
    await returnToOutbox(this.dataSource, 'id = ANY($1::bigint[])', [outboxIds]);
  }

  /** Whether the outbox still contains an event, because the stream has not acknowledged the event yet. */
  async holds(eventId: string): Promise<boolean> {
    const [row] = await this.dataSource.query<{ isHeld: boolean }[]>(
      'SELECT EXISTS (SELECT FROM outbox WHERE $1 = ANY(event_ids)) AS "isHeld"',
      [eventId],
    );
    return row?.isHeld === true;
  }

  /** Returns the number of batches in the outbox, and for how many seconds the most overdue batch has been claimable (0 when none is). */
  async measure(): Promise<{ count: number; overdueSeconds: number }> {
    const [row] = await this.dataSource.query<{ count: number; overdueSeconds: number }[]>(
      `SELECT count(*)::int AS count,
              greatest(0, coalesce(extract(epoch FROM now() - min(claimed_until)), 0))::float AS "overdueSeconds" FROM outbox`,
    );
    return row ?? { count: 0, overdueSeconds: 0 };
  }

  /** Records that the stream has late events up to this sequence. `StreamTrimmer` deletes them when they expire. */
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
 * Moves published batches that meet the condition back to the outbox. The batches keep their ids and are claimable immediately. Skips rows
 * that another instance is moving. Returns the number of batches.
 *
 * @param condition SQL on a row of `published_batches`
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
