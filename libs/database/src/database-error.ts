import { ServiceError } from '@stream-events/contracts';

/** The SQLSTATE of a database error, wherever TypeORM or pg put it; undefined for errors that have none. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code))
    return error.code;
  return 'driverError' in error ? sqlState(error.driverError) : undefined;
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
  return (
    error instanceof Error &&
    /ECONN|EPIPE|timeout|terminated|Connection|not established/i.test(`${errorCode(error)} ${error.message}`)
  );
}

function errorCode(error: Error): string {
  return 'code' in error ? String(error.code) : '';
}

/** The error that a service answers with when its database is away; any other error as it is. */
export function toUnavailable(error: unknown): unknown {
  if (!isUnavailableError(error)) return error;
  return new ServiceError('unavailable', 'The database is not available. Try again soon.', { cause: error });
}
