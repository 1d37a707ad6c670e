import { Inject, Injectable } from '@nestjs/common';
import { Random } from '../world/random.js';
import { World } from '../world/world.js';
import type {
  ApiFaultDto,
  ApiFaultMode,
  FaultsDto,
  NotificationFaultsDto,
  OAuthFaultsDto,
} from './fault.dto.js';

export interface ApiFault {
  mode: ApiFaultMode;
  delayMs: number;
  /** End of the fault in milliseconds since 1970; null without an end. */
  untilMs: number | null;
}

/** The field `faults` in the response of `GET /simulator`. */
export interface FaultsView {
  api: { mode: ApiFaultMode; delay_ms?: number; for_ms?: number };
  notifications: NotificationFaultsDto;
  /** How many more requests each fault hits (0 after the last one), and the delay. */
  oauth: OAuthFaultsDto;
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

  view(nowMs: number): FaultsView {
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
