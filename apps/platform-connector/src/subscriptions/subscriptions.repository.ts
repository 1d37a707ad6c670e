import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { enabled, ended, isLive, subscriptionKey, type OwnSubscription } from './own-subscription.js';
import type { Change, Plan } from '../reconciliation/subscription-plan.js';

/** How many subscriptions are in a status, and what they count of the limit. */
export interface StatusCount {
  status: string;
  count: number;
  cost: number;
}

// A statement for so many rows stays well within its time limit and a few MiB.
const rowsPerStatement = 5_000;

const ownColumns = `id, type, version, condition, subscription_id AS "subscriptionId", status, reason, cost, attempts,
  floor(extract(epoch FROM retry_at) * 1000)::float AS "retryAt",
  floor(extract(epoch FROM status_since) * 1000)::float AS "statusSince"`;

/** Our subscriptions, wanted and actual, in the database. */
@Injectable()
export class SubscriptionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async all(): Promise<OwnSubscription[]> {
    const rows = await this.dataSource.query<Omit<OwnSubscription, 'key'>[]>(
      `SELECT ${ownColumns} FROM subscriptions ORDER BY id`,
    );
    return rows.map(withKey);
  }

  /** Writes down what is planned, all of it or nothing. */
  async apply({ add, update, remove }: Pick<Plan, 'add' | 'update' | 'remove'>): Promise<void> {
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

  /** Writes down what has become of one, unless it has become something else meanwhile. */
  async save(change: Change): Promise<void> {
    await updateUnchanged(this.dataSource.manager, [change]);
  }

  /** Forgets one whose subscription was deleted on the platform. */
  async remove({ id, subscriptionId }: OwnSubscription): Promise<void> {
    await this.dataSource.query(
      'DELETE FROM subscriptions WHERE id = $1 AND subscription_id IS NOT DISTINCT FROM $2',
      [id, subscriptionId],
    );
  }

  /** Forgets all of them; whatever the platform has of them is found again by its callback. */
  async removeAll(): Promise<void> {
    await this.dataSource.query('DELETE FROM subscriptions');
  }

  /** Notes that the platform has ended a subscription; false when it is none of ours, or known to be dead. */
  async noteEnded(subscriptionId: string, status: string): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const [row] = await manager.query<(Omit<OwnSubscription, 'key'> & { now: number })[]>(
        `SELECT ${ownColumns}, floor(extract(epoch FROM now()) * 1000)::float AS now
         FROM subscriptions WHERE subscription_id = $1 FOR UPDATE`,
        [subscriptionId],
      );
      if (!row || !isLive(row.status) || isLive(status)) return false;
      const { now, ...columns } = row;
      const before = withKey(columns);
      const after = ended(before, { status, reason: 'The platform has revoked it: it is made anew.' }, now);
      await updateUnchanged(manager, [{ before, after }]);
      return true;
    });
  }

  /** How many there are of each status. */
  async count(): Promise<StatusCount[]> {
    return this.dataSource.query<StatusCount[]>(
      `SELECT status, count(*)::int AS count, coalesce(sum(cost) FILTER (WHERE subscription_id IS NOT NULL), 0)::int AS cost
       FROM subscriptions GROUP BY status`,
    );
  }

  /** How many streamers the platform tells about by itself, both when they go live and when they end. */
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

function withKey(row: Omit<OwnSubscription, 'key'>): OwnSubscription {
  return { ...row, key: subscriptionKey(row) };
}

function partsOf<T>(rows: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < rows.length; start += rowsPerStatement)
    parts.push(rows.slice(start, start + rowsPerStatement));
  return parts;
}

async function insert(manager: EntityManager, rows: readonly OwnSubscription[]): Promise<void> {
  await manager.query(
    `INSERT INTO subscriptions (id, type, version, condition, subscription_id, status, reason, cost, attempts, retry_at, status_since)
     SELECT id, type, version, condition::jsonb, subscription_id, status, reason, cost, attempts,
            to_timestamp(retry_at / 1000), to_timestamp(status_since / 1000)
     FROM unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::int[], $6::float[], $7::float[], $8::text[], $9::text[],
                 $10::text[], $11::text[])
       AS input (id, reason, cost, subscription_id, attempts, retry_at, status_since, status, type, version, condition)
     ON CONFLICT (type, version, condition) DO NOTHING`,
    [
      ...stateColumns(rows),
      rows.map((row) => row.type),
      rows.map((row) => row.version),
      rows.map((row) => JSON.stringify(row.condition)),
    ],
  );
}

/** Updates those that are as they were when the decision was made: what was revoked meanwhile stays revoked. */
async function updateUnchanged(manager: EntityManager, changes: readonly Change[]): Promise<void> {
  await manager.query(
    `UPDATE subscriptions SET subscription_id = input.subscription_id, status = input.status, reason = input.reason,
       cost = input.cost, attempts = input.attempts, retry_at = to_timestamp(input.retry_at / 1000),
       status_since = to_timestamp(input.status_since / 1000), updated_at = now()
     FROM unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::int[], $6::float[], $7::float[], $8::text[], $9::text[],
                 $10::text[])
       AS input (id, reason, cost, subscription_id, attempts, retry_at, status_since, status, old_id, old_status)
     WHERE subscriptions.id = input.id AND subscriptions.status = input.old_status
       AND subscriptions.subscription_id IS NOT DISTINCT FROM input.old_id`,
    [
      ...stateColumns(changes.map(({ after }) => after)),
      changes.map(({ before }) => before.subscriptionId),
      changes.map(({ before }) => before.status),
    ],
  );
}

/** The columns that change, in the order in which both statements take them. */
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
  ];
}
