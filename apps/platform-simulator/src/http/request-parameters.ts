import {
  BadRequestException,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';

/** A query parameter that occurs never, once, or several times. */
export type Repeated = string | string[] | undefined;

// Maximum values per parameter (FACTS.md §4.4).
const maxValues = 100;

/**
 * Returns the distinct, non-empty values.
 *
 * @throws BadRequestException for more than 100 values
 */
export function readRepeated(name: string, value: Repeated): string[] {
  const values = [...new Set([value ?? []].flat().filter((item) => item !== ''))];
  if (values.length > maxValues) throw new BadRequestException(`at most ${maxValues} values of ${name}`);
  return values;
}

/** The `pagination` field of a list; empty on the last page (FACTS.md §4.3). */
export interface Pagination {
  cursor?: string;
}

/** @param next the position after which the next page starts; null on the last page */
export function paginate(next: number | null): Pagination {
  if (next === null) return {};
  return { cursor: Buffer.from(JSON.stringify({ after: next })).toString('base64url') };
}

/**
 * Returns 0 without a cursor.
 *
 * @throws BadRequestException if the cursor is invalid
 */
export function decodeCursor(cursor: string | undefined): number {
  if (!cursor) return 0;
  const [, digits] = /^\{"after":(\d{1,15})\}$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (digits === undefined) throw new BadRequestException('the pagination cursor in after is not valid');
  return Number(digits);
}

/** Returns the page of `items` after the cursor. */
export function pageOf<Item>(
  items: readonly Item[],
  cursor: string | undefined,
  size: number,
): { page: Item[]; pagination: Pagination } {
  const start = decodeCursor(cursor);
  const end = start + size;
  return { page: items.slice(start, end), pagination: paginate(end < items.length ? end : null) };
}

/**
 * Accepts body fields as query parameters too. The platform does this, and client libraries rely on it (FACTS.md §3, §4.1).
 */
@Injectable()
export class QueryAsBody implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    request.body = { ...Object(request.query), ...Object(request.body) } as Record<string, unknown>; // Safe cast: an object literal.
    return next.handle();
  }
}
