import { ServiceError } from '@stream-events/contracts';

// Five characters, of which PostgreSQL's own always have a digit; Node's EPIPE has none.
const sqlStatePattern = /^(?=.*\d)[0-9A-Z]{5}$/;

// What Node says when the network fails: refused, reset, cut off, no such host.
const networkCodePattern = /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** The SQLSTATE of a database error, wherever TypeORM or pg put it; undefined for errors that have none. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string' && sqlStatePattern.test(error.code))
    return error.code;
  return 'driverError' in error ? sqlState(error.driverError) : undefined;
}

/** The constraint that a statement violated; undefined when the error names none. */
export function violatedConstraint(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('constraint' in error && typeof error.constraint === 'string') return error.constraint;
  return 'driverError' in error ? violatedConstraint(error.driverError) : undefined;
}

/** Whether the database refused the statement for its content (classes 22, 23 and 54): trying again cannot help. */
export function isContentError(error: unknown): boolean {
  return /^(22|23|54)/.test(sqlState(error) ?? '');
}

/** Whether the statement lost against a concurrent one and may simply run again (deadlock, serialization). */
export function isConflictError(error: unknown): boolean {
  return /^40(P01|001)$/.test(sqlState(error) ?? '');
}

/**
 * Whether the database could not be asked or could not answer: connection lost or refused (08, no SQLSTATE), shutting
 * down or starting (57P), out of resources (53), cancelled by a time limit (57014), read-only after a fail-over (25006).
 */
export function isUnavailableError(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(08|53|57|25006|58)/.test(state);
  // Without `instanceof Error`: below Jest, the errors of Node come from another realm.
  if (typeof error !== 'object' || error === null) return false;
  if ('code' in error && networkCodePattern.test(String(error.code))) return true;
  return 'message' in error && /timeout|terminated|connection|not established/i.test(String(error.message));
}

/** The error that a service answers with when its database is away; any other error as it is. */
export function toUnavailable(error: unknown): unknown {
  // Messages of our own errors repeat what clients wrote: "timeout" may be a user's name.
  if (error instanceof ServiceError || !isUnavailableError(error)) return error;
  return new ServiceError('unavailable', 'The database is not available. Try again soon.', { cause: error });
}
