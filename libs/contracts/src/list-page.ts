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
 * A position in a list that is sorted by id. `direction` says where the page goes from here: to older or newer items. With `inclusive`, the
 * page includes the item with this id.
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

  /** Where the page starts. Default: the newest page. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  position?: ListPosition;
}

/** Positions of the pages before and after a page. */
export class PageReply {
  /** Position of the page with older items; null at the end. An empty page does not mean the end: more items can follow. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  next!: ListPosition | null;

  /** Position of the page with newer items; null if there are none yet. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  previous!: ListPosition | null;
}

/** Positions of the neighboring pages, and the total number of items. */
export class CountedPageReply extends PageReply {
  /** Total number of items in the list. */
  @IsInt()
  count!: number;
}

/** A page in the order of reading: oldest first in the direction `newer`. */
export interface ReadPage {
  /** Id of the first item; undefined if the page is empty. */
  firstId: string | undefined;
  /** Id after which more items can follow; null if the list ends here. */
  continueAfter: string | null;
}

/** Returns the positions before and after the page at `position`. Without `position`, the page is the newest page. */
export function findNeighbours(position: ListPosition | undefined, page: ReadPage): PageReply {
  const { firstId, continueAfter } = page;
  const direction = position?.direction ?? 'older';
  const ahead = continueAfter === null ? null : { direction, id: continueAfter, inclusive: false };
  const behind = position ? turnAround(position, firstId) : null;
  return direction === 'older' ? { next: ahead, previous: behind } : { next: behind, previous: ahead };
}

/** Returns the position that leads back: before the page's first item or, if the page is empty, the requested position. */
function turnAround(position: ListPosition, firstId: string | undefined): ListPosition {
  const direction = position.direction === 'older' ? 'newer' : 'older';
  return firstId === undefined
    ? { direction, id: position.id, inclusive: !position.inclusive }
    : { direction, id: firstId, inclusive: false };
}
