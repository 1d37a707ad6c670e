import { Inject, Injectable } from '@nestjs/common';
import type { AlarmMessage } from '@stream-events/contracts';
import { DataSource, type EntityManager } from 'typeorm';
import { v7 } from 'uuid';
import { ALERT_WEBHOOK, type AlertWebhook } from './alert-webhook.js';

/** A message that this instance has claimed. */
export interface ClaimedPost {
  sequence: string;
  /** The value of the header `webhook-id`. */
  id: string;
  body: string;
  /** The number of attempts, including this one. */
  attempts: number;
}

// How long an instance claims a message. An attempt takes less time. If the instance dies, another can claim the message after this time.
const claimSeconds = 30;

/** Stores messages until they are posted to the alert webhook. Stores nothing when no webhook is configured. */
@Injectable()
export class AlarmPosts {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(ALERT_WEBHOOK) private readonly webhook: AlertWebhook | null,
  ) {}

  /** Adds a message for each alarm that the transaction opened or closed. */
  async add(manager: EntityManager, alarms: readonly AlarmMessage[]): Promise<void> {
    if (!this.webhook || alarms.length === 0) return;
    await manager.query(
      `INSERT INTO alarm_posts (id, alarm_id, body) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[])`,
      [alarms.map(() => v7()), alarms.map(({ id }) => id), alarms.map(printPost)],
    );
  }

  /**
   * Claims the oldest due message. Skips a message while an earlier message about the same alarm is unsent. Returns undefined when none is
   * due.
   */
  async claim(): Promise<ClaimedPost | undefined> {
    const rows = await this.dataSource.query<ClaimedPost[]>(
      `WITH claimed AS (
         UPDATE alarm_posts SET attempts = attempts + 1, due_at = now() + interval '${claimSeconds} seconds'
         WHERE sequence = (
           SELECT sequence FROM alarm_posts AS post
           WHERE due_at <= now() AND NOT EXISTS (
             SELECT FROM alarm_posts AS earlier
             WHERE earlier.alarm_id = post.alarm_id AND earlier.sequence < post.sequence
           )
           ORDER BY sequence LIMIT 1 FOR UPDATE SKIP LOCKED
         )
         RETURNING sequence, id, body, attempts
       ) SELECT * FROM claimed`,
    );
    return rows[0];
  }

  async postpone(sequence: string, milliseconds: number): Promise<void> {
    await this.dataSource.query(
      'UPDATE alarm_posts SET due_at = now() + make_interval(secs => $2::float8 / 1000) WHERE sequence = $1',
      [sequence, milliseconds],
    );
  }

  /** Removes messages that are more than a day overdue. Such messages remain after an operator removes ALERT_WEBHOOK_URL. */
  async removeOld(manager: EntityManager): Promise<void> {
    await manager.query(`DELETE FROM alarm_posts WHERE due_at < now() - interval '1 day'`);
  }

  /** Removes a message after it was posted, or after its final attempt has failed. */
  async remove(sequence: string): Promise<void> {
    await this.dataSource.query('DELETE FROM alarm_posts WHERE sequence = $1', [sequence]);
  }
}

/** Returns the JSON body of a message, in the format that Standard Webhooks recommends. */
function printPost({ id, key, kind, subject, message, raisedAt, clearedAt }: AlarmMessage): string {
  const raised = new Date(raisedAt).toISOString();
  const cleared = clearedAt === null ? null : new Date(clearedAt).toISOString();
  return JSON.stringify({
    type: cleared === null ? 'alarm.raised' : 'alarm.cleared',
    timestamp: cleared ?? raised,
    data: { id, key, kind, subject, message, raised, cleared },
  });
}
