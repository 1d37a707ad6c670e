import { Type } from 'class-transformer';
import { IsIn, IsInt, IsNumber, IsOptional, Max, Min, ValidateNested } from 'class-validator';

/** The ways in which the platform's API can fail. */
export const apiFaultModes = ['ok', 'down', 'slow', 'garbage', 'error', 'rate_limited'] as const;
export type ApiFaultMode = (typeof apiFaultModes)[number];

// Long enough for any test, and within the range of a timer.
const maxMs = 3_600_000;

export class ApiFaultDto {
  @IsIn(apiFaultModes)
  mode!: ApiFaultMode;

  /** Delay of every response in mode `slow`. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  delay_ms?: number;

  /** Time until the fault ends. Default: the fault does not end. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(maxMs)
  for_ms?: number;
}

/** Faults of notifications: probabilities from 0 to 1, and a delay. */
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

/** OAuth faults: how many of the next requests fail, and the delay of each response from /oauth2. */
export class OAuthFaultsDto {
  /** Number of refreshes that the platform rejects as if the refresh token were revoked. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  refresh_fails?: number;

  /** Number of refreshes that succeed, but whose responses are lost. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  refresh_replies_lost?: number;

  /** Number of validations that return 401. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  validate_fails?: number;

  /** Number of polls of a pending device code that return `invalid device code` (docs/platform-facts.md §4.7). */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  device_polls_invalid?: number;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  delay_ms?: number;
}

/**
 * `faults` of `PATCH /simulator`. Each given member replaces all current faults of its kind. An empty object removes the faults of
 * notifications or OAuth.
 */
export class FaultsDto {
  @IsOptional()
  @ValidateNested()
  @Type(() => ApiFaultDto)
  api?: ApiFaultDto;

  @IsOptional()
  @ValidateNested()
  @Type(() => NotificationFaultsDto)
  notifications?: NotificationFaultsDto;

  @IsOptional()
  @ValidateNested()
  @Type(() => OAuthFaultsDto)
  oauth?: OAuthFaultsDto;
}
