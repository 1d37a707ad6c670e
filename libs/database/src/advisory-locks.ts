import type { EntityManager } from 'typeorm';

/**
 * All advisory locks of the services, with their numbers in PostgreSQL. Services may share a database, where an advisory lock is global,
 * not per schema, so two purposes with one number would block each other.
 *
 * Never reuse a number: during an upgrade, instances of two versions run side by side.
 */
export const advisoryLocks = {
  /** Held while one instance migrates a schema. */
  migrations: 7_243_001,
  /** Held while a partition of the events table is created, so that no two instances create the same one. */
  eventPartitions: 7_243_002,
  /** Held while an instance claims streamers for a username lookup, so that each claim gets a full batch. */
  usernameClaims: 7_243_003,
  /** Held while an instance claims streamers for a poll, so that each claim gets a full batch. */
  pollClaims: 7_243_004,
  /**
   * Held by a session that builds indexes on partitions of the events table, or that removes partitions. Without the lock, two such
   * sessions could deadlock.
   */
  partitionMaintenance: 7_243_005,
  /** Held while the services' database roles are created or changed. */
  serviceRoles: 7_243_006,
  /** Held while the key for hashing the ids of erased users is read or created, so that all instances use the same key. */
  userHashKey: 7_243_007,
  /** Held while an instance stores a picture and removes the least recently used ones, so that no two instances remove the same ones. */
  pictures: 7_243_020,
  /** Held by a restore's session, so that no two restores write to one database. */
  restore: 7_243_030,
} as const;

export type AdvisoryLock = keyof typeof advisoryLocks;

/**
 * Advisory locks with a second key. In PostgreSQL, they are separate from locks without a second key, so numbers may be the same in both
 * lists.
 */
export const keyedAdvisoryLocks = {
  /** Held per client id while its application token is renewed, so that only one instance requests a new token. */
  appToken: 7_243_002,
  /** Held per connection while its user token is refreshed, because the platform accepts a refresh token only once. */
  userToken: 7_243_007,
  /** Held per pair of channels while a raid between them is stored, because the platform can send two messages about one raid. */
  raidChannels: 7_243_005,
} as const;

type Queries = Pick<EntityManager, 'query'>;

/** A transaction of TypeORM or of pg. */
interface Transaction {
  query(sql: string, parameters: unknown[]): Promise<unknown>;
}

/** Waits for an advisory lock, which the end of the transaction releases. */
export async function takeAdvisoryLock(transaction: Queries, lock: AdvisoryLock): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks[lock]]);
}

/** Takes an advisory lock if it is free. The end of the session releases the lock. Returns false when another session holds the lock. */
export async function tryAdvisoryLock(session: Queries, lock: AdvisoryLock): Promise<boolean> {
  const [row] = await session.query<{ isTaken: boolean }[]>('SELECT pg_try_advisory_lock($1) AS "isTaken"', [
    advisoryLocks[lock],
  ]);
  return row?.isTaken ?? false;
}

/**
 * Waits for the locks of several keys, which the end of the transaction releases. Each call takes its locks in the same order (by hash), so
 * two calls with common keys cannot deadlock. Call this only once per transaction.
 */
export async function takeKeyedAdvisoryLocks(
  transaction: Transaction,
  lock: keyof typeof keyedAdvisoryLocks,
  keys: readonly string[],
): Promise<void> {
  await transaction.query(
    `WITH hashes AS MATERIALIZED (
       SELECT DISTINCT hashtext(key) AS hash FROM unnest($2::text[]) AS key ORDER BY hash
     ) SELECT pg_advisory_xact_lock($1, hash) FROM hashes`,
    [keyedAdvisoryLocks[lock], keys],
  );
}

/** Waits for the lock of one key, which the end of the transaction releases. */
export async function takeKeyedAdvisoryLock(
  transaction: Transaction,
  lock: keyof typeof keyedAdvisoryLocks,
  key: string,
): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [keyedAdvisoryLocks[lock], key]);
}
