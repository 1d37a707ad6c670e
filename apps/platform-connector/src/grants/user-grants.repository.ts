import { Injectable } from '@nestjs/common';
import type { Authorization } from '@stream-events/platforms';
import { DataSource } from 'typeorm';

/** A user whose grants the service keeps. */
export interface KnownUser {
  userId: string;
  /** The granted scopes; null until the platform has listed them. */
  scopes: string[] | null;
  isDue: boolean;
  revision: number;
}

// Maximum time between two listings of a user's grants. Messages report most changes; the listing finds those whose message was lost. For
// 10,000 users, 10 per call, the listings take about 19 of the 800 calls/min.
const listingMinutes = 60;

@Injectable()
export class UserGrantsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Deletes all users except these, adds the missing ones, and returns the grants of these users. Users without a listing come first, then
   * the other users by due time.
   */
  async keep(clientId: string, userIds: readonly string[]): Promise<KnownUser[]> {
    await this.dataSource.query(
      'DELETE FROM user_grants WHERE client_id = $1 AND user_id <> ALL($2::text[])',
      [clientId, userIds],
    );
    await this.dataSource.query(
      `INSERT INTO user_grants (client_id, user_id) SELECT DISTINCT $1, user_id FROM unnest($2::text[]) AS user_id
       ON CONFLICT DO NOTHING`,
      [clientId, userIds],
    );
    return this.dataSource.query<KnownUser[]>(
      `SELECT user_id AS "userId", scopes, due_at <= now() AS "isDue", revision FROM user_grants WHERE client_id = $1
       ORDER BY scopes IS NULL DESC, due_at`,
      [clientId],
    );
  }

  /**
   * Saves the listed grants. Skips users whose consent has changed since the request. Returns the ids of the users whose grants it saved.
   */
  async save(clientId: string, listed: readonly (Authorization & { revision: number })[]): Promise<string[]> {
    const rows = await this.dataSource.query<{ userId: string }[]>(
      `WITH listed AS (
         SELECT value->>'userId' AS user_id, (value->>'revision')::int AS revision,
                ARRAY(SELECT jsonb_array_elements_text(value->'scopes')) AS scopes
         FROM jsonb_array_elements($2::jsonb) AS value
       ), saved AS (
         UPDATE user_grants SET scopes = listed.scopes,
           -- Jitter spreads the next listings of users that were listed together.
           due_at = now() + (0.8 + 0.2 * random()) * interval '${listingMinutes} minutes'
         FROM listed
         WHERE client_id = $1 AND user_grants.user_id = listed.user_id AND user_grants.revision = listed.revision
         RETURNING user_grants.user_id
       ) SELECT user_id AS "userId" FROM saved`,
      [clientId, JSON.stringify(listed)],
    );
    return rows.map(({ userId }) => userId);
  }

  /** Discards the known grants of these users, because they have changed. */
  async forget(userIds: readonly string[]): Promise<void> {
    await this.dataSource.query(
      'UPDATE user_grants SET scopes = NULL, due_at = now(), revision = revision + 1 WHERE user_id = ANY($1::text[])',
      [userIds],
    );
  }
}
