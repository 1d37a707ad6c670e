import { Inject, Injectable } from '@nestjs/common';
import { Random } from '../world/random.js';
import { World } from '../world/world.js';
import type { ApiFaultDto, ApiFaultMode, FaultsDto, NotificationFaultsDto } from './fault.dto.js';

/** How the platform's interface fails now. */
export interface ApiFault {
  mode: ApiFaultMode;
  delayMs: number;
  /** When it ends by itself, in milliseconds since 1970; null when it lasts. */
  untilMs: number | null;
}

/** What is switched on, as `GET /simulator` shows it. */
export interface FaultsView {
  api: { mode: ApiFaultMode; delay_ms?: number; for_ms?: number };
  notifications: NotificationFaultsDto;
}

type NotificationFault = 'lose' | 'duplicate' | 'reorder' | 'bad_signature';

// So long that no client should wait for it.
const defaultDelayMs = 30_000;

const noFault: ApiFault = { mode: 'ok', delayMs: 0, untilMs: null };

/** What goes wrong at the moment. Chances are drawn from the seed. */
@Injectable()
export class FaultsService {
  private apiFault = noFault;
  private notificationFaults: NotificationFaultsDto = {};
  private readonly random: Random;

  constructor(@Inject(World) world: World) {
    this.random = new Random(`${world.seed}/faults`);
  }

  change({ api, notifications }: FaultsDto): void {
    if (api) this.apiFault = createApiFault(api);
    if (notifications) this.notificationFaults = { ...notifications };
  }

  /** How the platform's interface fails at this time. */
  apiAt(nowMs: number): ApiFault {
    const { untilMs } = this.apiFault;
    if (untilMs !== null && untilMs <= nowMs) this.apiFault = noFault;
    return this.apiFault;
  }

  /** Whether this fault hits the next notification. */
  draw(fault: NotificationFault): boolean {
    const probability = this.notificationFaults[fault] ?? 0;
    return probability > 0 && this.random.chance(probability);
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
