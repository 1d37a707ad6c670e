import { Injectable } from '@nestjs/common';
import { subscriptionKey, type SubscriptionTransport } from '@stream-events/platforms';
import { DataSource, type EntityManager } from 'typeorm';
import {
  enabled,
  ended,
  isLive,
  limitReached,
  notGranted,
  recreated,
  refused,
  verificationPending,
  waiting,
  type OwnSubscription,
  type Change,
  type RowChanges,
} from './own-subscription.js';

/** The number and total cost of the subscriptions with this status. */
export interface StatusCount {
  status: string;
  count: number;
  cost: number;
}

export interface TransportCount {
  transport: SubscriptionTransport | null;
  count: number;
  problem: string | null;
}

// Maximum number of rows per statement. Keeps each statement well within its time limit, and its size at a few MiB.
const rowsPerStatement = 5_000;

const transportColumns = 'callback, conduit_id AS "conduitId", session_id AS "sessionId"';

const ownColumns = `id, type, version, condition, subscription_id AS "subscriptionId", ${transportColumns}, status, reason, cost, attempts,
  floor(extract(epoch FROM retry_at) * 1000)::float AS "retryAt",
  floor(extract(epoch FROM status_since) * 1000)::float AS "statusSince"`;

@Injectable()
export class SubscriptionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async all(): Promise<OwnSubscription[]> {
    const rows = await this.dataSource.query<OwnRow[]>(`SELECT ${ownColumns} FROM subscriptions ORDER BY id`);
    return rows.map(toOwn);
  }

  /** Saves all changes of a plan in one transaction. */
  async apply({ add, update, remove }: RowChanges): Promise<void> {
    if (add.length + update.length + remove.length === 0) return;
    await this.dataSource.transaction(async (manager) => {
      for (const part of partsOf(add)) await insert(manager, part);
      for (const part of partsOf(update)) await updateUnchanged(manager, part);
      for (const part of partsOf(remove))
        await manager.query(
          'DELETE FROM subscriptions WHERE id = ANY($1::uuid[]) AND subscription_id IS NULL',
          [part.map(({ id }) => id)],
        );
    });
  }

  /** Saves a change, unless the row's status or platform id has changed since the row was read. */
  async save(change: Change): Promise<void> {
    await updateUnchanged(this.dataSource.manager, [change]);
  }

  /** Removes a row after its subscription was deleted on the platform. */
  async remove({ id, subscriptionId }: OwnSubscription): Promise<void> {
    await this.dataSource.query(
      'DELETE FROM subscriptions WHERE id = $1 AND subscription_id IS NOT DISTINCT FROM $2',
      [id, subscriptionId],
    );
  }

  /** Removes all rows. A later listing recognizes, by transport, the subscriptions that still exist on the platform. */
  async removeAll(): Promise<void> {
    await this.dataSource.query('DELETE FROM subscriptions');
  }

  /** Finds a subscription by the platform's id. */
  async find(subscriptionId: string): Promise<OwnSubscription | undefined> {
    const [row] = await this.dataSource.query<OwnRow[]>(
      `SELECT ${ownColumns} FROM subscriptions WHERE subscription_id = $1`,
      [subscriptionId],
    );
    return row && toOwn(row);
  }

  /**
   * Saves that the platform has ended a subscription. Returns false, and saves nothing, when no row has this id or the end is already saved.
   */
  async saveEnded(subscriptionId: string, status: string): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const [row] = await manager.query<(OwnRow & { now: number })[]>(
        `SELECT ${ownColumns}, floor(extract(epoch FROM now()) * 1000)::float AS now
         FROM subscriptions WHERE subscription_id = $1 FOR UPDATE`,
        [subscriptionId],
      );
      if (!row || !isLive(row.status)) return false;
      const { now, ...columns } = row;
      const before = toOwn(columns);
      const after = ended(
        before,
        {
          status,
          reason: `The platform revoked the subscription. ${recreated}`,
        },
        now,
      );
      await updateUnchanged(manager, [{ before, after }]);
      return true;
    });
  }

  /**
   * Makes the subscriptions of closed sessions due again, and also this user's subscriptions that are waiting, refused, or over the limit.
   * The service need not delete subscriptions of closed sessions: the platform ends them with the session.
   */
  async releaseSessions(userId: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE subscriptions SET subscription_id = NULL, session_id = NULL, status = $1, reason = NULL, retry_at = NULL, status_since = now()
       WHERE session_id NOT IN (SELECT session_id FROM user_sessions WHERE session_id IS NOT NULL)`,
      [waiting],
    );
    await this.dataSource.query(
      `UPDATE subscriptions SET retry_at = NULL
       WHERE status IN ($1, $2, $3) AND subscription_id IS NULL AND ${isAbout('$4')}`,
      [waiting, refused, limitReached, userId],
    );
  }

  /** Counts a session's subscriptions, and the waiting subscriptions about its user. */
  async countOfSession(userId: string, sessionId: string): Promise<{ active: number; waiting: number }> {
    const [row] = await this.dataSource.query<{ active: number; waiting: number }[]>(
      `SELECT count(*) FILTER (WHERE session_id = $2)::int AS active, count(*) FILTER (WHERE status = $3)::int AS waiting
       FROM subscriptions WHERE session_id = $2 OR ${isAbout('$1')}`,
      [userId, sessionId, waiting],
    );
    return row ?? { active: 0, waiting: 0 };
  }

  /**
   * Finds users with subscriptions. `wanted`: those of `userIds` that any wanted or existing subscription is about. `used`: users whose
   * sessions have subscriptions.
   */
  async usersOf(userIds: readonly string[]): Promise<{ wanted: string[]; used: string[] }> {
    const [row] = await this.dataSource.query<{ wanted: string[]; used: string[] }[]>(
      `SELECT ARRAY(SELECT DISTINCT value FROM subscriptions, jsonb_each_text(condition) WHERE value = ANY($1::text[])) AS wanted,
              ARRAY(SELECT user_id FROM user_sessions WHERE session_id IN (SELECT session_id FROM subscriptions)) AS used`,
      [userIds],
    );
    return row ?? { wanted: [], used: [] };
  }

  /** For these users, makes the subscriptions due that were refused or lack consent. */
  async retryRefused(userIds: readonly string[]): Promise<void> {
    await this.dataSource.query(
      `UPDATE subscriptions SET retry_at = now()
       WHERE status IN ($1, $2) AND EXISTS (SELECT FROM jsonb_each_text(condition) WHERE value = ANY($3::text[]))`,
      [refused, notGranted, userIds],
    );
  }

  async count(): Promise<StatusCount[]> {
    return this.dataSource.query<StatusCount[]>(
      `SELECT status, count(*)::int AS count, coalesce(sum(cost) FILTER (WHERE subscription_id IS NOT NULL), 0)::int AS cost
       FROM subscriptions GROUP BY status`,
    );
  }

  /** Counts the working subscriptions by transport. `problem` is why one of them cannot move; null when none is stuck. */
  async countByTransport(): Promise<TransportCount[]> {
    const rows = await this.dataSource.query<(TransportColumns & Omit<TransportCount, 'transport'>)[]>(
      `SELECT ${transportColumns}, count(*)::int AS count, min(reason) AS problem FROM subscriptions WHERE status IN ($1, $2)
       GROUP BY callback, conduit_id, session_id`,
      [enabled, verificationPending],
    );
    return rows.map(({ count, problem, ...columns }) => ({
      transport: toTransport(columns),
      count,
      problem,
    }));
  }

  /** Counts the streamers whose subscriptions to stream.online and stream.offline both work. */
  async countSubscribedStreamers(): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM (
         SELECT condition->>'broadcaster_user_id' FROM subscriptions
         WHERE status = $1 AND type IN ('stream.online', 'stream.offline')
         GROUP BY condition->>'broadcaster_user_id' HAVING count(DISTINCT type) = 2
       ) AS subscribed`,
      [enabled],
    );
    return row?.count ?? 0;
  }
}

/** Returns the SQL condition for subscriptions about a user. @param user the query parameter with the user's id, such as `$1` */
function isAbout(user: string): string {
  return `EXISTS (SELECT FROM jsonb_each_text(condition) WHERE value = ${user})`;
}

/** The columns of a transport. At most one column is set. */
export interface TransportColumns {
  callback: string | null;
  conduitId: string | null;
  sessionId: string | null;
}

/** Reads a transport from its columns. Returns null when the transport is unknown. */
export function toTransport({
  callback,
  conduitId,
  sessionId,
}: TransportColumns): SubscriptionTransport | null {
  if (callback !== null) return { method: 'webhook', callback };
  if (conduitId !== null) return { method: 'conduit', conduitId };
  return sessionId === null ? null : { method: 'websocket', sessionId };
}

type OwnRow = Omit<OwnSubscription, 'key' | 'transport'> & TransportColumns;

function toOwn({ callback, conduitId, sessionId, ...row }: OwnRow): OwnSubscription {
  const transport = toTransport({ callback, conduitId, sessionId });
  return { ...row, transport, key: subscriptionKey(row) };
}

function partsOf<T>(rows: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < rows.length; start += rowsPerStatement)
    parts.push(rows.slice(start, start + rowsPerStatement));
  return parts;
}

async function insert(manager: EntityManager, rows: readonly OwnSubscription[]): Promise<void> {
  await manager.query(
    `INSERT INTO subscriptions (id, type, version, condition, subscription_id, callback, conduit_id, session_id, status, reason, cost,
       attempts, retry_at, status_since)
     SELECT id, type, version, condition::jsonb, subscription_id, callback, conduit_id, session_id, status, reason, cost,
            attempts, to_timestamp(retry_at / 1000), to_timestamp(status_since / 1000)
     FROM unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::int[], $6::float[], $7::float[], $8::text[], $9::text[],
                 $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])
       AS input (id, reason, cost, subscription_id, attempts, retry_at, status_since, status, callback, conduit_id, session_id, type,
                 version, condition)
     ON CONFLICT (type, version, condition) DO NOTHING`,
    [
      ...stateColumns(rows),
      rows.map((row) => row.type),
      rows.map((row) => row.version),
      rows.map((row) => JSON.stringify(row.condition)),
    ],
  );
}

/**
 * Updates rows only if their statuses and platform ids are unchanged since the rows were read. A subscription that was revoked since then
 * stays revoked.
 */
async function updateUnchanged(manager: EntityManager, changes: readonly Change[]): Promise<void> {
  await manager.query(
    `UPDATE subscriptions SET subscription_id = input.subscription_id, callback = input.callback, conduit_id = input.conduit_id,
       session_id = input.session_id, status = input.status, reason = input.reason, cost = input.cost, attempts = input.attempts, retry_at = to_timestamp(input.retry_at / 1000),
       status_since = to_timestamp(input.status_since / 1000), updated_at = now()
     FROM unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::int[], $6::float[], $7::float[], $8::text[], $9::text[],
                 $10::text[], $11::text[], $12::text[], $13::text[])
       AS input (id, reason, cost, subscription_id, attempts, retry_at, status_since, status, callback, conduit_id, session_id, old_id,
                 old_status)
     WHERE subscriptions.id = input.id AND subscriptions.status = input.old_status
       AND subscriptions.subscription_id IS NOT DISTINCT FROM input.old_id`,
    [
      ...stateColumns(changes.map(({ after }) => after)),
      changes.map(({ before }) => before.subscriptionId),
      changes.map(({ before }) => before.status),
    ],
  );
}

/** Returns the values of the changing columns, in the order that the insert and the update expect. */
function stateColumns(rows: readonly OwnSubscription[]): unknown[] {
  return [
    rows.map((row) => row.id),
    rows.map((row) => row.reason),
    rows.map((row) => row.cost),
    rows.map((row) => row.subscriptionId),
    rows.map((row) => row.attempts),
    rows.map((row) => row.retryAt),
    rows.map((row) => row.statusSince),
    rows.map((row) => row.status),
    rows.map(({ transport }) => (transport?.method === 'webhook' ? transport.callback : null)),
    rows.map(({ transport }) => (transport?.method === 'conduit' ? transport.conduitId : null)),
    rows.map(({ transport }) => (transport?.method === 'websocket' ? transport.sessionId : null)),
  ];
}
