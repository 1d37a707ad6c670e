import { Type } from 'class-transformer';
import { IsIn, IsInt, IsNumber, IsOptional, Max, Min, ValidateNested } from 'class-validator';

export const apiFaultModes = ['ok', 'down', 'slow', 'garbage', 'error', 'rate_limited'] as const;
export type ApiFaultMode = (typeof apiFaultModes)[number];

// Maximum delay or duration of a fault: one hour in milliseconds. Also the maximum of the counts.
const maxMs = 3_600_000;

export class ApiFaultDto {
  @IsIn(apiFaultModes)
  mode!: ApiFaultMode;

  /** Delay per response in mode `slow`, in milliseconds. Default: 30 s. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  delay_ms?: number;

  /** Duration of the fault in milliseconds. Default: no end. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(maxMs)
  for_ms?: number;
}

/** Probabilities from 0 to 1, and the delay of each notification in milliseconds. */
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

/** How many of the next requests fail, and the delay of each response from /oauth2 in milliseconds. */
export class OAuthFaultsDto {
  /** Number of refreshes to reject, as if the refresh token were revoked. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  refresh_fails?: number;

  /** Number of refreshes whose responses get lost. The refreshes themselves succeed. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  refresh_replies_lost?: number;

  /** Number of validations to answer with 401. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(maxMs)
  validate_fails?: number;

  /** Number of polls of pending device codes to answer with `invalid device code` (docs/platform-facts.md §4.7). */
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
 * `faults` of `PATCH /simulator`. Each field replaces all faults of its kind. An empty object removes the faults of notifications or OAuth.
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
