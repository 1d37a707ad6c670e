import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsUUID,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';

/**
 * A position in a list that is sorted by id. A page with the direction `older` continues from this position toward older items, a page with
 * the direction `newer` toward newer items. With `inclusive`, the page includes the item with this id.
 */
export class ListPosition {
  @IsIn(['older', 'newer'])
  direction!: 'older' | 'newer';

  @IsUUID('all')
  id!: string;

  @IsBoolean()
  inclusive!: boolean;
}

/** Requests a page of a list, newest first. */
export class PageRequest {
  @IsInt()
  @Min(1)
  @Max(100)
  pageSize!: number;

  /** Where the page begins. Omit it to request the newest page. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  position?: ListPosition;
}

/** The positions of the pages before and after a page. */
export class PageReply {
  /** The position of the page with older items. Only null means the end: a page can be empty even if more items follow. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  next!: ListPosition | null;

  /** The position of the page with newer items; null when no newer items exist yet. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  previous!: ListPosition | null;
}

/** The positions of the pages before and after a page, and the total number of items in the list. */
export class CountedPageReply extends PageReply {
  /** The total number of items in the list. */
  @IsInt()
  count!: number;
}

/** A page in the order in which it was read: oldest first when reading `newer` items. */
export interface ReadPage {
  /** The id of the page's first item; undefined when the page is empty. */
  firstId: string | undefined;
  /** The id after which more items may follow; null when the list has no more items in this direction. */
  continueAfter: string | null;
}

/** Returns the positions before and after the page at this position. Without a position, the page is the newest one. */
export function findNeighbours(position: ListPosition | undefined, page: ReadPage): PageReply {
  const { firstId, continueAfter } = page;
  const direction = position?.direction ?? 'older';
  const ahead = continueAfter === null ? null : { direction, id: continueAfter, inclusive: false };
  const behind = position ? turnAround(position, firstId) : null;
  return direction === 'older' ? { next: ahead, previous: behind } : { next: behind, previous: ahead };
}

/** Returns the position that leads back from a page: before its first item or, for an empty page, at the requested position. */
function turnAround(position: ListPosition, firstId: string | undefined): ListPosition {
  const direction = position.direction === 'older' ? 'newer' : 'older';
  return firstId === undefined
    ? { direction, id: position.id, inclusive: !position.inclusive }
    : { direction, id: firstId, inclusive: false };
}
