import { BadRequestException } from '@nestjs/common';

export function encodeCursor(position: number): string {
  return Buffer.from(JSON.stringify({ after: position })).toString('base64url');
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

/** The `pagination` field of a list; empty on the last page (docs/platform-facts.md §4.3). */
export interface Pagination {
  cursor?: string;
}

export function paginate(next: number | null): Pagination {
  return next === null ? {} : { cursor: encodeCursor(next) };
}
