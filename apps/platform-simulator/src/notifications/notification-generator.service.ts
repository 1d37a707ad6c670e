import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import type { SimulatorConfig } from '../platform-simulator.config.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { World } from '../world/world.js';
import { NotificationSender } from './notification-sender.service.js';
import { Pace } from './pace.js';

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
  get missedCount(): number {
    return this.sender.missedCount;
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
