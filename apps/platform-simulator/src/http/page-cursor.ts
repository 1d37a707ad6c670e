import { BadRequestException } from '@nestjs/common';

/** A number as an opaque text for `pagination.cursor`. */
export function encodeCursor(position: number): string {
  return Buffer.from(JSON.stringify({ after: position })).toString('base64url');
}

/**
 * The number of a cursor; 0 without one.
 *
 * @throws BadRequestException for text that is no cursor
 */
export function decodeCursor(cursor: string | undefined): number {
  if (!cursor) return 0;
  const [, digits] = /^\{"after":(\d{1,15})\}$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (digits === undefined) throw new BadRequestException('the pagination cursor in after is not valid');
  return Number(digits);
}

/** The member of a list that leads to the next page; empty at the end (docs/platform-facts.md §4.3). */
export interface Pagination {
  cursor?: string;
}

export function paginate(next: number | null): Pagination {
  return next === null ? {} : { cursor: encodeCursor(next) };
}
