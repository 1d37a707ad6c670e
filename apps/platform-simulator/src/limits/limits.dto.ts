import { ArrayMaxSize, IsArray, IsInt, IsOptional, Max, Min } from 'class-validator';

// Slips of the keyboard end here, and so does what no timer can wait for.
const max = 1_000_000_000;
const maxDelayMs = 600_000;

/** Body of `POST /simulator/limits`; what is left out stays as it is. */
export class ChangeLimitsDto {
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(max)
  max_total_cost?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(max)
  rate_limit?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(10_000)
  page_size?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(max)
  token_seconds?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(max)
  max_failed_notifications?: number;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(10)
  @IsInt({ each: true })
  @Min(0, { each: true })
  @Max(maxDelayMs, { each: true })
  retry_delays_ms?: number[];
}
