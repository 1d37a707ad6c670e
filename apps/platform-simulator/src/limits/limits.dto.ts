import { ArrayMaxSize, IsArray, IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { grantModes, type GrantMode } from '../platform-simulator.config.js';

// Upper bounds against typing errors, and against delays that a timer cannot hold.
const max = 1_000_000_000;
const maxDelayMs = 600_000;
const maxTimerSeconds = 2_000_000;

/** Body of `POST /simulator/limits`. Missing fields keep their values. */
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
  user_token_seconds?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(max)
  refresh_token_seconds?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(max)
  device_code_seconds?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(max)
  device_interval_seconds?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000)
  socket_second_ms?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(maxTimerSeconds)
  dead_conduit_seconds?: number;

  @IsOptional()
  @IsIn(grantModes)
  grants?: GrantMode;

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
