import { Type } from 'class-transformer';
import { IsIn, IsInt, IsNumber, IsOptional, Max, Min, ValidateNested } from 'class-validator';

/** How the platform's interface can fail. */
export const apiFaultModes = ['ok', 'down', 'slow', 'garbage', 'error', 'rate_limited'] as const;
export type ApiFaultMode = (typeof apiFaultModes)[number];

// Long enough for any test of patience, and within what a timer can wait.
const maxMs = 3_600_000;

export class ApiFaultDto {
  @IsIn(apiFaultModes)
  mode!: ApiFaultMode;

  /** How long an answer takes when the mode is `slow`. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  delay_ms?: number;

  /** When it ends by itself; without it, it lasts. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(maxMs)
  for_ms?: number;
}

/** Each but the delay is a probability from 0 to 1. */
export class NotificationFaultsDto {
  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  lose?: number;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  duplicate?: number;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  reorder?: number;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  delay_ms?: number;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  bad_signature?: number;
}

/** `faults` of `PATCH /simulator`: what is given replaces what was; `{}` of notifications ends their faults. */
export class FaultsDto {
  @IsOptional()
  @ValidateNested()
  @Type(() => ApiFaultDto)
  api?: ApiFaultDto;

  @IsOptional()
  @ValidateNested()
  @Type(() => NotificationFaultsDto)
  notifications?: NotificationFaultsDto;
}
