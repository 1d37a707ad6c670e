import { Body, Controller, Get, HttpCode, Inject, Injectable, Post } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import { ArrayMaxSize, IsArray, IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { IsOptionalInteger } from '../http/validation.js';
import { grantModes, type GrantMode, type SimulatorConfig } from '../platform-simulator.config.js';

// Upper bounds against typing errors, and against delays that a timer cannot hold.
const max = 1_000_000_000;
const maxDelayMs = 600_000;
const maxTimerSeconds = 2_000_000;

/**
 * Limits of applications and sockets, lifetimes of tokens and codes, and the treatment of failing callbacks. Body of `POST
 * /simulator/limits`, where missing fields keep their values.
 */
export class ChangeLimitsDto {
  /** Maximum total cost of the subscriptions of one application (FACTS.md §4.6). */
  @IsOptionalInteger(0, max)
  max_total_cost?: number;

  /** Points per minute. Each call costs one point (FACTS.md §4.2). */
  @IsOptionalInteger(1, max)
  rate_limit?: number;

  /** Subscriptions or conduit shards per page. */
  @IsOptionalInteger(1, 10_000)
  page_size?: number;

  /** Lifetime of an app access token in seconds. */
  @IsOptionalInteger(1, max)
  token_seconds?: number;

  /** Lifetime of a user access token in seconds. */
  @IsOptionalInteger(1, max)
  user_token_seconds?: number;

  /** Lifetime of a public client's refresh token in seconds (FACTS.md §4.8). */
  @IsOptionalInteger(1, max)
  refresh_token_seconds?: number;

  /** Lifetime of a device code in seconds (FACTS.md §4.7). */
  @IsOptionalInteger(1, max)
  device_code_seconds?: number;

  /** Seconds between two polls of a device code. */
  @IsOptionalInteger(1, max)
  device_interval_seconds?: number;

  /** Length of one second on the socket server, in milliseconds, for new sockets. Tests shorten it (FACTS.md §2). */
  @IsOptionalInteger(1, 1_000)
  socket_second_ms?: number;

  /** Seconds until a conduit that has lost its last enabled shard is deleted (FACTS.md §3). */
  @IsOptionalInteger(1, maxTimerSeconds)
  dead_conduit_seconds?: number;

  /** Who has granted scopes: every user, or only users who have consented. */
  @IsOptional()
  @IsIn(grantModes)
  grants?: GrantMode;

  /** Failed notifications in a row that disable a subscription or webhook shard. A notification fails when its last retry fails. */
  @IsOptionalInteger(1, max)
  max_failed_notifications?: number;

  /** Delay before each retry of a notification, in milliseconds. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(10)
  @IsInt({ each: true })
  @Min(0, { each: true })
  @Max(maxDelayMs, { each: true })
  retry_delays_ms?: number[];
}

export type Limits = Required<ChangeLimitsDto>;

/** The current limits. The control API can change them. */
@Injectable()
export class PlatformLimits {
  private limits: Limits = {
    max_total_cost: 10_000,
    rate_limit: 800,
    page_size: 100,
    token_seconds: 60 * 86_400,
    user_token_seconds: 4 * 3_600,
    refresh_token_seconds: 30 * 86_400,
    device_code_seconds: 1_800,
    device_interval_seconds: 5,
    socket_second_ms: 1_000,
    dead_conduit_seconds: 72 * 3_600,
    grants: 'everyone',
    // The platform publishes neither value. These values keep a subscription enabled through a short outage of its callback, and keep
    // simulations short.
    max_failed_notifications: 10,
    retry_delays_ms: [500, 2_000, 5_000],
  };

  constructor(@Inject(CONFIG) { SIMULATOR_GRANTS }: SimulatorConfig) {
    this.limits.grants = SIMULATOR_GRANTS;
  }

  get current(): Readonly<Limits> {
    return this.limits;
  }

  /** Changes only the given limits. */
  change(changes: ChangeLimitsDto): void {
    const given = Object.entries<unknown>({ ...changes }).filter(([, value]) => value != null);
    this.limits = { ...this.limits, ...Object.fromEntries(given) };
  }
}

@Controller('simulator/limits')
export class LimitsController {
  constructor(@Inject(PlatformLimits) private readonly limits: PlatformLimits) {}

  @Get()
  view(): Limits {
    return this.limits.current;
  }

  @Post()
  @HttpCode(200)
  change(@Body() changes: ChangeLimitsDto): Limits {
    this.limits.change(changes);
    return this.limits.current;
  }
}
