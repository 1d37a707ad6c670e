import type { EntityManager } from 'typeorm';

/**
 * Every advisory lock of the services, with its number in PostgreSQL. All services can share one database, and an advisory lock
 * belongs to the whole database, not to a schema. Two purposes with the same number would therefore block each other.
 *
 * Never reuse a number for another purpose: instances of two versions run side by side during an upgrade.
 */
export const advisoryLocks = {
  /** Held while one instance migrates a schema. */
  migrations: 7_243_001,
  /** Held while a partition of the events table is created, so that two instances do not create the same partition. */
  eventPartitions: 7_243_002,
  /** Held while an instance claims streamers for a username lookup, so that each claim gets a full batch. */
  usernameClaims: 7_243_003,
  /**
   * Held while an instance claims streamers for a poll, so that each claim gets a full batch. Version 0.1.0 used the number of
   * `eventPartitions` for this purpose. During an upgrade, an old and a new instance can therefore claim at the same time. Such claims are
   * safe, because each claim skips locked rows: no streamer is claimed twice, but a batch can be smaller.
   */
  pollClaims: 7_243_004,
  /**
   * Held by the session that builds indexes on partitions of the events table or removes partitions. Without this lock, an index build and
   * a removal could deadlock.
   */
  partitionMaintenance: 7_243_005,
  /** Held while the database roles of the services are created or changed. */
  serviceRoles: 7_243_006,
  /** Held while the keys that hash the ids of erased users are read or created, so that all instances use the same keys. */
  userHashKeys: 7_243_007,
  /**
   * Held while an instance stores a picture and removes the least recently used pictures, so that no two instances remove the same
   * pictures.
   */
  pictures: 7_243_020,
  /** Held by the session of a restore, so that two restores do not write to the same database. */
  restore: 7_243_030,
} as const;

/** The name of an advisory lock. */
export type AdvisoryLock = keyof typeof advisoryLocks;

/** Advisory locks with a second key. PostgreSQL keeps these locks apart from locks without a second key, so the numbers may repeat. */
export const keyedAdvisoryLocks = {
  /** Held for one client id while its application token is renewed, so that only one instance requests a new token from the platform. */
  appToken: 7_243_002,
  /** Held for one connection while its user token is refreshed, because the platform accepts each refresh token only once. */
  userToken: 7_243_007,
  /** Held for one pair of channels while a raid between them is stored, because the platform can report the same raid twice. */
  raidChannels: 7_243_005,
  /** Held for one group of pairing keys while deliveries of overlapping subscriptions are stored: see `writeOverlapping`. */
  overlappingDeliveries: 7_243_006,
} as const;

type Queries = Pick<EntityManager, 'query'>;

/** A transaction of TypeORM or of pg. */
interface Transaction {
  query(sql: string, parameters: unknown[]): Promise<unknown>;
}

/** Waits for an advisory lock. The end of the transaction releases the lock. */
export async function takeAdvisoryLock(transaction: Queries, lock: AdvisoryLock): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks[lock]]);
}

/**
 * Takes an advisory lock for the session, unless another session holds it. Returns whether the lock was taken. The end of the
 * session releases the lock.
 */
export async function tryAdvisoryLock(session: Queries, lock: AdvisoryLock): Promise<boolean> {
  const [row] = await session.query<{ isTaken: boolean }[]>('SELECT pg_try_advisory_lock($1) AS "isTaken"', [
    advisoryLocks[lock],
  ]);
  return row?.isTaken ?? false;
}

/**
 * Waits for the advisory locks of several keys. The end of the transaction releases the locks. Every transaction takes the locks in the
 * same order, so that transactions with common keys do not deadlock.
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

/** Waits for an advisory lock of one key. The end of the transaction releases the lock. */
export async function takeKeyedAdvisoryLock(
  transaction: Transaction,
  lock: keyof typeof keyedAdvisoryLocks,
  key: string,
): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [keyedAdvisoryLocks[lock], key]);
}
