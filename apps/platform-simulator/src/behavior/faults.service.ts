import { Inject, Injectable } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsIn, IsOptional, ValidateNested } from 'class-validator';
import { IsOptionalInteger, IsOptionalNumber } from '../http/validation.js';
import { Random } from '../world/random.js';
import { World } from '../world/world.js';

const apiFaultModes = ['ok', 'down', 'slow', 'garbage', 'error', 'rate_limited'] as const;
type ApiFaultMode = (typeof apiFaultModes)[number];

// Maximum delay or duration of a fault: one hour in milliseconds. Also the maximum of the counts.
const maxMs = 3_600_000;

class ApiFaultDto {
  @IsIn(apiFaultModes)
  mode!: ApiFaultMode;

  /** Delay per response in mode `slow`, in milliseconds. Default: 30 s. */
  @IsOptionalInteger(0, maxMs)
  delay_ms?: number;

  /** Duration of the fault in milliseconds. Default: no end. */
  @IsOptionalInteger(1, maxMs)
  for_ms?: number;
}

/** Probabilities from 0 to 1, and the delay of each notification in milliseconds. */
class NotificationFaultsDto {
  @IsOptionalNumber(0, 1)
  lose?: number;

  @IsOptionalNumber(0, 1)
  duplicate?: number;

  @IsOptionalNumber(0, 1)
  reorder?: number;

  @IsOptionalInteger(0, maxMs)
  delay_ms?: number;

  @IsOptionalNumber(0, 1)
  bad_signature?: number;
}

/** How many of the next requests fail, and the delay of each response from /oauth2 in milliseconds. */
class OAuthFaultsDto {
  /** Number of refreshes to reject, as if the refresh token were revoked. */
  @IsOptionalInteger(0, maxMs)
  refresh_fails?: number;

  /** Number of refreshes whose responses get lost. The refreshes themselves succeed. */
  @IsOptionalInteger(0, maxMs)
  refresh_replies_lost?: number;

  /** Number of validations to answer with 401. */
  @IsOptionalInteger(0, maxMs)
  validate_fails?: number;

  /** Number of polls of pending device codes to answer with `invalid device code` (FACTS.md §4.7). */
  @IsOptionalInteger(0, maxMs)
  device_polls_invalid?: number;

  @IsOptionalInteger(0, maxMs)
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

interface ApiFault {
  mode: ApiFaultMode;
  delayMs: number;
  /** End of the fault in milliseconds since 1970; null without an end. */
  untilMs: number | null;
}

/** A fault that hits a limited number of requests. */
type OAuthFault = Exclude<keyof OAuthFaultsDto, 'delay_ms'>;

type NotificationFault = 'lose' | 'duplicate' | 'reorder' | 'bad_signature';

// Default delay in mode `slow`: longer than any client should wait.
const defaultDelayMs = 30_000;

const noFault: ApiFault = { mode: 'ok', delayMs: 0, untilMs: null };

/** Holds the current faults. Random decisions depend only on the seed. */
@Injectable()
export class FaultsService {
  private apiFault = noFault;
  private notificationFaults: NotificationFaultsDto = {};
  private oauthFaults: OAuthFaultsDto = {};
  private readonly random: Random;

  constructor(@Inject(World) world: World) {
    this.random = new Random(`${world.seed}/faults`);
  }

  change({ api, notifications, oauth }: FaultsDto): void {
    if (api) this.apiFault = createApiFault(api);
    if (notifications) this.notificationFaults = { ...notifications };
    if (oauth) this.oauthFaults = { ...oauth };
  }

  /** @param nowMs milliseconds since 1970 */
  apiAt(nowMs: number): ApiFault {
    const { untilMs } = this.apiFault;
    if (untilMs !== null && untilMs <= nowMs) this.apiFault = noFault;
    return this.apiFault;
  }

  /** Decides at random whether the fault hits the next notification. */
  draw(fault: NotificationFault): boolean {
    const probability = this.notificationFaults[fault] ?? 0;
    return probability > 0 && this.random.chance(probability);
  }

  /** Counts this request toward the fault's limit. Returns whether the fault hits this request. */
  take(fault: OAuthFault): boolean {
    const left = this.oauthFaults[fault] ?? 0;
    if (left > 0) this.oauthFaults[fault] = left - 1;
    return left > 0;
  }

  get oauthDelayMs(): number {
    return this.oauthFaults.delay_ms ?? 0;
  }

  get notificationDelayMs(): number {
    return this.notificationFaults.delay_ms ?? 0;
  }

  /** The field `faults` in the response of `GET /simulator`. The counts of OAuth faults are those of the requests still to come. */
  view(nowMs: number): Required<FaultsDto> {
    const { mode, delayMs, untilMs } = this.apiAt(nowMs);
    return {
      api: {
        mode,
        ...(mode === 'slow' && { delay_ms: delayMs }),
        ...(untilMs !== null && { for_ms: untilMs - nowMs }),
      },
      notifications: this.notificationFaults,
      oauth: this.oauthFaults,
    };
  }
}

function createApiFault({ mode, delay_ms, for_ms }: ApiFaultDto): ApiFault {
  return {
    mode,
    delayMs: delay_ms ?? defaultDelayMs,
    untilMs: for_ms == null ? null : Date.now() + for_ms,
  };
}
