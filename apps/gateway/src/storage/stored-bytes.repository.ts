import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The bytes that a user has stored on one day, or a change to this number. */
export interface DailyBytes {
  /** The day in UTC: YYYY-MM-DD. */
  day: string;
  userId: string;
  /** A change is negative when a counted event was not stored after all. */
  bytes: number;
}

/** Bytes by user id. */
export type BytesByUser = ReadonlyMap<string, number>;

interface Row {
  userId: string;
  bytes: number;
}

/** Stores how many bytes each user has stored on each day. */
@Injectable()
export class StoredBytesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Adds the changes to the stored numbers. */
  async add(added: readonly DailyBytes[]): Promise<void> {
    await this.dataSource.query(
      // Writes the rows in the order of the key, so that the statements of two gateways do not deadlock.
      `INSERT INTO stored_bytes AS known (day, user_id, bytes)
       SELECT day, user_id, bytes FROM unnest($1::date[], $2::uuid[], $3::bigint[]) AS added (day, user_id, bytes)
       ORDER BY day, user_id
       ON CONFLICT (day, user_id) DO UPDATE SET bytes = known.bytes + excluded.bytes`,
      [added.map(({ day }) => day), added.map(({ userId }) => userId), added.map(({ bytes }) => bytes)],
    );
  }

  /** Returns the bytes that each user stored on `day`. */
  async readDay(day: string): Promise<BytesByUser> {
    return toMap(
      await this.dataSource.query<Row[]>(
        'SELECT user_id AS "userId", bytes::double precision AS bytes FROM stored_bytes WHERE day = $1',
        [day],
      ),
    );
  }

  /** Returns the total bytes that each user stored from the day `from` until the day `before`, which is excluded. */
  async readDays(from: string, before: string): Promise<BytesByUser> {
    return toMap(
      await this.dataSource.query<Row[]>(
        `SELECT user_id AS "userId", sum(bytes)::double precision AS bytes
         FROM stored_bytes WHERE day >= $1 AND day < $2 GROUP BY user_id`,
        [from, before],
      ),
    );
  }

  /** Deletes the rows of all days before the day `before`. */
  async prune(before: string): Promise<void> {
    await this.dataSource.query('DELETE FROM stored_bytes WHERE day < $1', [before]);
  }
}

function toMap(rows: readonly Row[]): BytesByUser {
  return new Map(rows.map(({ userId, bytes }) => [userId, bytes]));
}
