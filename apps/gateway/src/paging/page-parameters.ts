import { ServiceError, type FieldErrors, type ListPosition } from '@stream-events/contracts';
import { parseCursor } from './cursor.js';

export const defaultPageSize = 50;
export const maxPageSize = 100;

/** The parameters of a query; of a repeated one, the last. */
export type Parameters = Readonly<Record<string, string | undefined>>;

/** The page of a list that was asked for. */
export interface Page {
  pageSize: number;
  /** Where it begins; the first page without it. */
  position?: ListPosition;
}

/** Gathers what is wrong with parameters, to refuse a query for all of its faults at once. */
export class ParameterFaults {
  private readonly errors: FieldErrors = {};

  /** What `read` returns; undefined when it refuses the parameter, which is noted. */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      Object.assign(this.errors, error.errors);
      return undefined;
    }
  }

  /** @throws ServiceError `invalid` with every fault by parameter, when there is one */
  throwIfAny(): void {
    const names = Object.keys(this.errors);
    if (names.length > 0)
      throw new ServiceError('invalid', `Invalid: ${names.join(', ')}.`, { errors: this.errors });
  }
}

/** Reads `page_size` and `cursor`; the cursor must be of this list (see `printCursor`). Empty values count as none. */
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
