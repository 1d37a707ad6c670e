import { ServiceError, type FieldErrors, type ListPosition } from '@stream-events/contracts';
import { parseCursor } from './cursor.js';

export const defaultPageSize = 50;
export const maxPageSize = 100;

/** Query parameters. The last value of a repeated parameter wins. */
export type Parameters = Readonly<Record<string, string | undefined>>;

/** The page of a list that a client requests. */
export interface Page {
  pageSize: number;
  /** Undefined on the first page. */
  position?: ListPosition;
}

/** Collects the errors of all query parameters, to report them in one response. */
export class ParameterFaults {
  private readonly errors: FieldErrors = {};

  /** Returns the result of `read`. If `read` throws a ServiceError, records its errors and returns undefined. */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      Object.assign(this.errors, error.errors);
      return undefined;
    }
  }

  /** @throws ServiceError `invalid` with all errors by parameter, if there are any */
  throwIfAny(): void {
    if (Object.keys(this.errors).length > 0) throw ServiceError.onFields(this.errors);
  }
}

/** Parses `page_size` and `cursor`. Ignores empty values. Rejects cursors of other lists. */
export function parsePage(parameters: Parameters, list: string, faults: ParameterFaults): Page {
  const pageSize = faults.attempt(() => parsePageSize(parameters.page_size)) ?? defaultPageSize;
  const { cursor } = parameters;
  const position = cursor ? faults.attempt(() => parseCursor(cursor, list)) : undefined;
  return { pageSize, ...(position && { position }) };
}

function parsePageSize(value: string | undefined): number {
  if (!value) return defaultPageSize;
  const size = Number(value);
  if (!/^\d{1,3}$/.test(value) || size < 1 || size > maxPageSize) {
    throw ServiceError.onField('page_size', `must be a whole number from 1 to ${maxPageSize}`);
  }
  return size;
}
