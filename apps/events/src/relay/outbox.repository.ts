import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { PublishableEvent } from './stream-publisher.js';

/** A batch of stored events on its way to the stream. */
export interface OutboxBatch {
  outboxId: string;
  events: readonly PublishableEvent[];
}

/** The outbox: what is stored but not known to be on the stream. */
@Injectable()
export class OutboxRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Takes over batches whose writer did not finish, but for some; they are this instance's for the next 10 s. */
  async claim(limit: number, except: readonly string[]): Promise<OutboxBatch[]> {
    const [entries] = await this.dataSource.query<[{ id: string; event_ids: string[] }[], number]>(
      `UPDATE outbox SET claimed_until = now() + interval '10 seconds'
       WHERE id IN (SELECT id FROM outbox 
         WHERE claimed_until < now() AND id <> ALL($2::bigint[]) ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING id, event_ids`,
      [limit, except],
    );
    if (entries.length === 0) return [];
    const events = await this.readEvents(entries.flatMap((entry) => entry.event_ids));
    return entries.map((entry) => ({
      outboxId: entry.id,
      // An event that retention has removed meanwhile is not published any more.
      events: entry.event_ids.flatMap((id) => events.get(id) ?? []),
    }));
  }

  /** Strikes batches off that the stream has acknowledged. */
  async remove(outboxIds: readonly string[]): Promise<void> {
    await this.dataSource.query('DELETE FROM outbox WHERE id = ANY($1::bigint[])', [outboxIds]);
  }

  /** How many batches wait and for how many seconds the oldest of them has been free to take. */
  async measure(): Promise<{ count: number; overdueSeconds: number }> {
    const [row] = await this.dataSource.query<{ count: number; overdueSeconds: number }[]>(
      `SELECT count(*)::int AS count,
              greatest(0, coalesce(extract(epoch FROM now() - min(claimed_until)), 0))::float AS "overdueSeconds" FROM outbox`,
    );
    return row ?? { count: 0, overdueSeconds: 0 };
  }

  private async readEvents(ids: readonly string[]): Promise<Map<string, PublishableEvent>> {
    const events = await this.dataSource.query<PublishableEvent[]>(
      `SELECT id, event_id AS "eventId", event_type AS "eventType", event_source AS "eventSource", origin,
              event_data::text AS "eventData", broadcaster_user_id AS "broadcasterUserId"
       FROM events WHERE id = ANY($1::uuid[])`,
      [ids],
    );
    return new Map(events.map((event) => [event.id, event]));
  }
}
