import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The bytes that a user stored on one day, or a change to that number. */
export interface DailyBytes {
  /** YYYY-MM-DD, in UTC. */
  day: string;
  userId: string;
  /** A change is negative if a counted event was not stored after all. */
  bytes: number;
}

/** User id to bytes. */
export type BytesByUser = ReadonlyMap<string, number>;

interface Row {
  userId: string;
  bytes: number;
}

/** Keeps the number of bytes that each user stored per day. */
@Injectable()
export class StoredBytesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Adds changes to the stored numbers. */
  async add(added: readonly DailyBytes[]): Promise<void> {
    await this.dataSource.query(
      // Write the rows in key order, so that concurrent gateways do not deadlock.
      `INSERT INTO stored_bytes AS known (day, user_id, bytes)
       SELECT day, user_id, bytes FROM unnest($1::date[], $2::uuid[], $3::bigint[]) AS added (day, user_id, bytes)
       ORDER BY day, user_id
       ON CONFLICT (day, user_id) DO UPDATE SET bytes = known.bytes + excluded.bytes`,
      [added.map(({ day }) => day), added.map(({ userId }) => userId), added.map(({ bytes }) => bytes)],
    );
  }

  async readDay(day: string): Promise<BytesByUser> {
    return toMap(
      await this.dataSource.query<Row[]>(
        'SELECT user_id AS "userId", bytes::double precision AS bytes FROM stored_bytes WHERE day = $1',
        [day],
      ),
    );
  }

  /** Sums up each user's bytes from the day `from` up to, but not including, the day `before`. */
  async readDays(from: string, before: string): Promise<BytesByUser> {
    return toMap(
      await this.dataSource.query<Row[]>(
        `SELECT user_id AS "userId", sum(bytes)::double precision AS bytes
         FROM stored_bytes WHERE day >= $1 AND day < $2 GROUP BY user_id`,
        [from, before],
      ),
    );
  }

  /** Deletes all days before `before`. */
  async prune(before: string): Promise<void> {
    await this.dataSource.query('DELETE FROM stored_bytes WHERE day < $1', [before]);
  }
}

function toMap(rows: readonly Row[]): BytesByUser {
  return new Map(rows.map(({ userId, bytes }) => [userId, bytes]));
}
