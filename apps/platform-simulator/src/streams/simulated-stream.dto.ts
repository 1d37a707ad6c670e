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

// Within what a timer and a test can wait for.
const maxLagMs = 3_600_000;
const maxViewers = 100_000_000;

/** What can be said about a stream that is on. */
export class ChangeStreamDto {
  @IsOptional()
  @IsString()
  @MaxLength(140) // the platform's limit
  title?: string;

  @IsOptional()
  @IsString()
  @MaxLength(255)
  game_name?: string;

  /** Stays as it is from then on; without it, it wanders by itself. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxViewers)
  viewer_count?: number;
}

/** Body of `POST /simulator/streams`: who goes live, by id or login. */
export class StartStreamDto extends ChangeStreamDto {
  @ValidateIf(({ login }: StartStreamDto) => login === undefined)
  @IsString()
  user_id?: string;

  @ValidateIf(({ user_id }: StartStreamDto) => user_id === undefined)
  @IsString()
  login?: string;

  /** Whether subscribers are told; true unless given. */
  @IsOptional()
  @IsBoolean()
  notify?: boolean;

  /** How long the platform's list does not show it yet. */
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
  /** Whether subscribers are told; true unless given. */
  @IsOptional()
  @IsBoolean()
  notify?: boolean;

  /** How long the platform's list still shows it. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxLagMs)
  listed_for_ms?: number;
}
