import type { EntityManager } from 'typeorm';

/**
 * Every advisory lock of the services, with its number in PostgreSQL. All services may share one database, and an advisory
 * lock belongs to the whole database, not to a schema: two purposes with the same number would block each other.
 *
 * Never reuse a number for another purpose: instances of two versions run side by side during an upgrade.
 */
export const advisoryLocks = {
  /** Held while one instance migrates a schema. */
  migrations: 7_243_001,
  /** Held while a partition of the events table is created, so that two instances do not create the same one. */
  eventPartitions: 7_243_002,
  /** Held while streamers are claimed for a lookup of their usernames, so that each claim gets a full batch. */
  usernameClaims: 7_243_003,
  /**
   * Held while streamers are claimed for a poll, so that each claim gets a full batch. Version 0.1.0 used the number of
   * `eventPartitions`. During an upgrade, an old and a new instance may therefore claim at the same time. That is safe:
   * claims skip rows that are locked, so no streamer is claimed twice, but a batch may be smaller.
   */
  pollClaims: 7_243_004,
} as const;

/** Advisory locks with a second key. Their numbers can repeat those above, because PostgreSQL keeps the two kinds apart. */
export const keyedAdvisoryLocks = {
  /** Held for one client id while its application token is renewed, so that only one instance requests it from the platform. */
  appToken: 7_243_002,
} as const;

type Queries = Pick<EntityManager, 'query'>;

/** Waits for an advisory lock. The end of the transaction releases the lock. */
export async function takeAdvisoryLock(
  transaction: Queries,
  lock: keyof typeof advisoryLocks,
): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks[lock]]);
}

/** Waits for an advisory lock of one key. The end of the transaction releases the lock. */
export async function takeKeyedAdvisoryLock(
  transaction: Queries,
  lock: keyof typeof keyedAdvisoryLocks,
  key: string,
): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [keyedAdvisoryLocks[lock], key]);
}
