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
 * A place between two items of a list that is sorted by id. `older` reads down from it, `newer` reads up; `inclusive` counts
 * the item with this very id as beyond the place.
 */
export class ListPosition {
  @IsIn(['older', 'newer'])
  direction!: 'older' | 'newer';

  @IsUUID('all')
  id!: string;

  @IsBoolean()
  inclusive!: boolean;
}

/** Asks for a page of a list, newest first. */
export class PageRequest {
  @IsInt()
  @Min(1)
  @Max(100)
  pageSize!: number;

  /** Where the page begins; the newest page without it. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  position?: ListPosition;
}

/** The neighbours of a page. */
export class PageReply {
  /** Where older items go on; null alone means the end. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  next!: ListPosition | null;

  /** Where newer items go on; null when there are none yet. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  previous!: ListPosition | null;
}

/** The same of a list that is counted. */
export class CountedPageReply extends PageReply {
  /** How many items the list has in all. */
  @IsInt()
  count!: number;
}

/** A page as it was read: in the order of travel, which is upwards for `newer`. */
export interface ReadPage {
  /** The id of its first item; undefined when it is empty. */
  firstId: string | undefined;
  /** The id beyond which there may be more; null when there is not. */
  continueAfter: string | null;
}

/** The neighbours of a page that was asked for at a position, or of the newest one without it. */
export function findNeighbours(position: ListPosition | undefined, page: ReadPage): PageReply {
  const { firstId, continueAfter } = page;
  const direction = position?.direction ?? 'older';
  const ahead = continueAfter === null ? null : { direction, id: continueAfter, inclusive: false };
  const behind = position ? turnAround(position, firstId) : null;
  return direction === 'older' ? { next: ahead, previous: behind } : { next: behind, previous: ahead };
}

/** The position that leads back from a page: before its first item, or where an empty page was asked for. */
function turnAround(position: ListPosition, firstId: string | undefined): ListPosition {
  const direction = position.direction === 'older' ? 'newer' : 'older';
  return firstId === undefined
    ? { direction, id: position.id, inclusive: !position.inclusive }
    : { direction, id: firstId, inclusive: false };
}
