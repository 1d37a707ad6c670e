import { ServiceError } from '@stream-events/contracts';

// Requires a digit, because Node's EPIPE also has five characters.
const sqlStatePattern = /^(?=.*\d)[0-9A-Z]{5}$/;

// Node's codes for network failures, such as a refused or lost connection, or an unknown host.
const networkCodePattern = /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

// Two retries are enough: partitions are dropped one at a time, a day or a month apart, except after RETENTION_DAYS was lowered.
const maxReads = 3;

/** Returns the SQLSTATE of an error from TypeORM or pg; undefined when it has none. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string' && sqlStatePattern.test(error.code))
    return error.code;
  return 'driverError' in error ? sqlState(error.driverError) : undefined;
}

/** Returns the name of the violated constraint; undefined when the error names none. */
export function violatedConstraint(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('constraint' in error && typeof error.constraint === 'string') return error.constraint;
  return 'driverError' in error ? violatedConstraint(error.driverError) : undefined;
}

/** Whether the database rejected the content of a statement (SQLSTATE class 22, 23, or 54), so a retry cannot help. */
export function isContentError(error: unknown): boolean {
  return /^(22|23|54)/.test(sqlState(error) ?? '');
}

/** Whether a statement lost to a concurrent transaction (deadlock or serialization failure), so a retry can help. */
export function isConflictError(error: unknown): boolean {
  return /^40(P01|001)$/.test(sqlState(error) ?? '');
}

/**
 * Whether the error can mean that a table was dropped while or after PostgreSQL planned the statement: an undefined table (42P01) or an
 * internal error (XX000), whose text is always English. A retry plans the statement again, without the table.
 */
export function isDroppedTableError(error: unknown): boolean {
  const state = sqlState(error);
  if (state === '42P01') return true;
  if (state !== 'XX000' || typeof error !== 'object' || error === null || !('message' in error)) return false;
  return /could not open relation with OID|cache lookup failed for relation/.test(String(error.message));
}

/** Reads from a partitioned table, and retries up to twice when a partition is dropped during the read. */
export async function readDespiteDrops<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (attempt === maxReads || !isDroppedTableError(error)) throw error;
    }
  }
}

/**
 * Whether the database is unavailable: connection lost or refused (08, or no SQLSTATE), starting or shutting down (57P), out of resources
 * (53), statement timed out (57014), read-only after a failover (25006), or I/O error (58).
 */
export function isUnavailableError(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(08|53|57|25006|58)/.test(state);
  // `instanceof Error` does not work here: under Jest, Node's errors come from another realm.
  if (typeof error !== 'object' || error === null) return false;
  if ('code' in error && networkCodePattern.test(String(error.code))) return true;
  return 'message' in error && /timeout|terminated|connection|not established/i.test(String(error.message));
}

/** Turns an error of an unavailable database into a ServiceError `unavailable`, and returns other errors unchanged. */
export function toUnavailable(error: unknown): unknown {
  // Check the class first: a ServiceError's message may contain client input, such as a user named "timeout".
  if (error instanceof ServiceError || !isUnavailableError(error)) return error;
  return new ServiceError(
    'unavailable',
    'The database is unavailable. Retry after the time in `Retry-After`.',
    { cause: error },
  );
}
