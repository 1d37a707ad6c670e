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
 * A position between two items of a list that is sorted by id. `older` reads from there towards older items, `newer` towards
 * newer ones. With `inclusive`, the page includes the item with this id.
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

  /** Where the page begins. Without it, the request is for the newest page. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  position?: ListPosition;
}

/** The positions of the pages before and after a page. */
export class PageReply {
  /** Where older items continue. Only null means the end. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  next!: ListPosition | null;

  /** Where newer items continue; null when there are none yet. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  previous!: ListPosition | null;
}

/** The positions before and after a page, for a list that also has a count. */
export class CountedPageReply extends PageReply {
  /** The total number of items in the list. */
  @IsInt()
  count!: number;
}

/** A page in the order in which it was read: oldest first when reading `newer` items. */
export interface ReadPage {
  /** The id of its first item; undefined when the page is empty. */
  firstId: string | undefined;
  /** The id after which there may be more items; null when there are none. */
  continueAfter: string | null;
}

/** Returns the positions before and after the page at this position; without a position, of the newest page. */
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
