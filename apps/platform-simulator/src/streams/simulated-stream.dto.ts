import {
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';

// Maximum lag of the streams API: one hour, longer than any test waits.
const maxLagMs = 3_600_000;
const maxViewers = 100_000_000;

export class ChangeStreamDto {
  @IsOptional()
  @IsString()
  @MaxLength(140) // the platform's limit
  title?: string;

  @IsOptional()
  @IsString()
  @MaxLength(255)
  game_name?: string;

  /** Fixed viewer count. Default: the count changes over time. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxViewers)
  viewer_count?: number;
}

/** Body of `POST /simulator/streams`. Requires the user's id or login. */
export class StartStreamDto extends ChangeStreamDto {
  @ValidateIf(({ login }: StartStreamDto) => login === undefined)
  @IsString()
  user_id?: string;

  @ValidateIf(({ user_id }: StartStreamDto) => user_id === undefined)
  @IsString()
  login?: string;

  /** Whether to send notifications. Default: true. */
  @IsOptional()
  @IsBoolean()
  notify?: boolean;

  /** Milliseconds until the streams API lists the stream. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxLagMs)
  listed_after_ms?: number;

  @IsOptional()
  @IsIn(['live'])
  type?: 'live';
}

/** Body of `DELETE /simulator/streams/<user id>`. */
export class EndStreamDto {
  /** Whether to send notifications. Default: true. */
  @IsOptional()
  @IsBoolean()
  notify?: boolean;

  /** Milliseconds for which the streams API keeps listing the stream. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxLagMs)
  listed_for_ms?: number;
}
