import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LeaseColumns } from '@stream-events/database';
import { DataSource } from 'typeorm';

/** A user whose socket this process holds. */
export interface UserSessionClaim {
  userId: string;
  holder: string;
  /** The previous holder's session; null when there was none. */
  sessionId: string | null;
  /** All messages of the previous session from before this time are stored or recorded as lost. In milliseconds since 1970. */
  settledAt: number | null;
}

/** A user who no longer needs a socket. */
export interface RemovedUserSession extends UserSessionState {
  /** See `UserSessionClaim`. */
  settledAt: number | null;
}

/** The state of a user's socket. */
export interface UserSessionState {
  userId: string;
  /** Null while the socket is not connected. */
  sessionId: string | null;
  isHeld: boolean;
}

/** The lease on a user's socket. When a connector dies, another one takes the socket within about 10 s. */
export const userSessionLease = new LeaseColumns({ holder: 'holder', until: 'held_until' }, 10);

const isHeld = `coalesce(NOT ${userSessionLease.isExpired}, false)`;
const toTime = (parameter: string): string => `to_timestamp(${parameter}::float / 1000)`;

/** Stores which users have sockets, and which connector holds each of them. */
@Injectable()
export class UserSessionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Adds and removes users, so that exactly these users have sockets. Returns the removed users. The connectors that hold the removed
   * users' sockets notice the removal when they renew the lease.
   */
  async keep(userIds: readonly string[]): Promise<RemovedUserSession[]> {
    await this.dataSource.query(
      'INSERT INTO user_sessions (user_id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING',
      [userIds],
    );
    return this.dataSource.query<RemovedUserSession[]>(
      `WITH removed AS (
         DELETE FROM user_sessions WHERE user_id <> ALL ($1::text[]) RETURNING user_id, session_id, held_until, settled_at
       ) SELECT user_id AS "userId", session_id AS "sessionId", ${isHeld} AS "isHeld",
                floor(extract(epoch FROM settled_at) * 1000)::float AS "settledAt" FROM removed`,
      [userIds],
    );
  }

  /**
   * Claims a user whose socket no connector holds. Returns undefined when there is none.
   *
   * @param held the users whose sockets this process holds. A database outage can let their leases expire, but this process renews them, so
   * they are not claimed
   */
  async claim(held: readonly string[]): Promise<UserSessionClaim | undefined> {
    const [claim] = await this.dataSource.query<UserSessionClaim[]>(
      `WITH claimed AS (
         UPDATE user_sessions SET ${userSessionLease.take('$1')}
         WHERE user_id = (SELECT user_id FROM user_sessions
                          WHERE (holder IS NULL OR ${userSessionLease.isExpired}) AND user_id <> ALL ($2::text[])
                          ORDER BY user_id FOR UPDATE SKIP LOCKED LIMIT 1)
         RETURNING user_id, holder, session_id, settled_at
       ) SELECT user_id AS "userId", holder, session_id AS "sessionId",
                floor(extract(epoch FROM settled_at) * 1000)::float AS "settledAt" FROM claimed`,
      [randomUUID(), held],
    );
    return claim;
  }

  /** Renews the lease. Returns false when another connector holds the socket, or when the user no longer needs one. */
  async renew({ userId, holder }: UserSessionClaim, settledAt: number): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `WITH renewed AS (
         UPDATE user_sessions SET ${userSessionLease.renewal}, settled_at = ${toTime('$3')}
         WHERE user_id = $2 AND ${userSessionLease.isHeldBy('$1')} RETURNING user_id
       ) SELECT user_id FROM renewed`,
      [holder, userId, settledAt],
    );
    return rows.length > 0;
  }

  /** Saves the user's session; null when there is none. */
  async save({ userId, holder }: UserSessionClaim, sessionId: string | null): Promise<void> {
    await this.dataSource.query(
      `UPDATE user_sessions SET session_id = $3 WHERE user_id = $2 AND ${userSessionLease.isHeldBy('$1')}`,
      [holder, userId, sessionId],
    );
  }

  /** Lets another connector take over the socket at once. That connector reports a gap since `settledAt`. */
  async release({ userId, holder }: UserSessionClaim, settledAt: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE user_sessions SET ${userSessionLease.release}, settled_at = ${toTime('$3')}
       WHERE user_id = $2 AND ${userSessionLease.isHeldBy('$1')}`,
      [holder, userId, settledAt],
    );
  }

  /** Returns the application's connected channels and their sockets. A channel that was just connected has no socket yet. */
  async ofConnected(clientId: string): Promise<UserSessionState[]> {
    return this.dataSource.query<UserSessionState[]>(
      `SELECT user_id AS "userId", session_id AS "sessionId", ${isHeld} AS "isHeld"
       FROM connections LEFT JOIN user_sessions USING (user_id)
       WHERE client_id = $1 AND state = 'connected' AND role = 'channel' ORDER BY user_id`,
      [clientId],
    );
  }

  async all(): Promise<UserSessionState[]> {
    return this.dataSource.query<UserSessionState[]>(
      `SELECT user_id AS "userId", session_id AS "sessionId", ${isHeld} AS "isHeld"
       FROM user_sessions ORDER BY user_id`,
    );
  }
}
