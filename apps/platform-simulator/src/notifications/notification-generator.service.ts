import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import type { SimulatorConfig } from '../platform-simulator.config.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { World } from '../world/world.js';
import { NotificationSender } from './notification-sender.service.js';

/** Number of events to send now, and number of events dropped because the backlog was too large. */
export interface Due {
  send: number;
  missed: number;
}

// Longest backlog to catch up on after a stall. Older events are dropped.
const maxBacklogSeconds = 1;

/** Calculates how many events are due at a rate. Times are in milliseconds on the caller's clock. */
export class Pace {
  private credit = 0;

  constructor(
    readonly perSecond: number,
    private lastMs: number,
  ) {}

  /** Takes at most `room` due events. Drops the events beyond the maximum backlog. */
  take(nowMs: number, room: number): Due {
    this.credit += (this.perSecond * (nowMs - this.lastMs)) / 1_000;
    this.lastMs = nowMs;
    const send = Math.min(Math.floor(this.credit), Math.max(0, room));
    this.credit -= send;
    const missed = Math.floor(Math.max(0, this.credit - Math.max(1, this.perSecond * maxBacklogSeconds)));
    this.credit -= missed;
    return { send, missed };
  }

  /** Infinity at rate 0. */
  untilNextMs(): number {
    return this.perSecond === 0 ? Infinity : Math.max(0, ((1 - this.credit) / this.perSecond) * 1_000);
  }
}

// Maximum notifications in flight, to bound memory. Enough for 6,000 events per second if the callback responds in 20 ms.
const maxInFlight = 128;

// Limits for the timer's interval in milliseconds. Shorter timers only cost CPU time; a very low rate would overflow the timer.
const tickBoundsMs = [5, 60_000] as const;

@Injectable()
export class NotificationGenerator implements OnApplicationBootstrap, OnModuleDestroy {
  private pace = new Pace(0, 0);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: SimulatorConfig,
    @Inject(World) private readonly world: World,
    @Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService,
    @Inject(NotificationSender) private readonly sender: NotificationSender,
  ) {}

  onApplicationBootstrap(): void {
    this.setRate(this.config.SIMULATOR_RATE);
  }

  onModuleDestroy(): void {
    this.setRate(0);
  }

  get rate(): number {
    return this.pace.perSecond;
  }

  /** Events skipped because callbacks were slower than the rate. */
  get missed(): number {
    return this.sender.missed;
  }

  /** Events per second; 0 stops the generator. */
  setRate(perSecond: number): void {
    this.pace = new Pace(perSecond, performance.now());
    this.scheduleTick();
  }

  private scheduleTick(): void {
    clearTimeout(this.timer);
    if (this.pace.perSecond === 0) return;
    const [min, max] = tickBoundsMs;
    this.timer = setTimeout(() => this.tick(), Math.min(max, Math.max(min, this.pace.untilNextMs())));
  }

  private tick(): void {
    const { send, missed } = this.pace.take(performance.now(), maxInFlight - this.sender.inFlight);
    for (let count = 0; count < send; count += 1) {
      const happened = this.world.nextEvent(this.subscriptions.audience(), new Date());
      if (happened === null) break;
      this.sender.notifyAll(happened);
    }
    if (missed > 0) this.sender.countMissed(missed);
    this.scheduleTick();
  }
}
