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
