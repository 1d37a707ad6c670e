import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG, LOGGER, type Logger } from '@stream-events/service';
import { DeliveryService } from '../messages/delivery.service.js';
import { createMessage } from '../messages/message.js';
import type { SimulatorConfig } from '../platform-simulator.config.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import type { Subscription } from '../subscriptions/subscription.js';
import { World, type WorldEvent } from '../world/world.js';
import { composeBody, eventMember } from './notification.js';
import { Pace } from './pace.js';

// Enough to keep a callback busy that answers in 20 ms at 6,000 events a second, and a bound on memory.
const maxInFlight = 128;

// A timer of less than this would only cost; a longer one than that overflows.
const tickBoundsMs = [5, 60_000] as const;

const warnEveryMs = 10_000;

/** Lets things happen in the world at the chosen rate and tells the subscribers. */
@Injectable()
export class NotificationGenerator implements OnApplicationBootstrap, OnModuleDestroy {
  private pace = new Pace(0, 0);
  private timer: NodeJS.Timeout | undefined;
  private inFlight = 0;
  private missed = 0;
  private missedSinceWarning = 0;
  private lastWarningMs = -Infinity;

  constructor(
    @Inject(CONFIG) private readonly config: SimulatorConfig,
    @Inject(World) private readonly world: World,
    @Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService,
    @Inject(DeliveryService) private readonly delivery: DeliveryService,
    @Inject(LOGGER) private readonly logger: Logger,
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

  /** How many events were skipped because the callbacks were slower than the rate. */
  get missedCount(): number {
    return this.missed;
  }

  /** Changes the rate, in events per second, at once; 0 is silence. */
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
    const now = performance.now();
    const { send, missed } = this.pace.take(now, maxInFlight - this.inFlight);
    for (let count = 0; count < send; count += 1) {
      const happened = this.world.nextEvent(this.subscriptions.audience(), new Date());
      if (happened === null) break;
      this.tell(happened);
    }
    this.countMissed(missed, now);
    this.scheduleTick();
  }

  private tell({ type, event }: WorldEvent): void {
    const member = eventMember(JSON.stringify(event));
    for (const subscription of this.subscriptions.findMatching(type, event)) {
      void this.deliver(subscription, member); // counts its outcome and cannot fail
    }
  }

  private async deliver({ view, secret }: Subscription, member: string): Promise<void> {
    const body = composeBody(view, member);
    const message = createMessage({ type: 'notification', subscription: view, body, secret });
    this.inFlight += 1;
    await this.delivery.sendWithRetries(message, view.transport.callback);
    this.inFlight -= 1;
  }

  private countMissed(missed: number, nowMs: number): void {
    this.missed += missed;
    this.missedSinceWarning += missed;
    if (this.missedSinceWarning === 0 || nowMs - this.lastWarningMs < warnEveryMs) return;
    const facts = { rate: this.rate, missed: this.missedSinceWarning, inFlight: this.inFlight };
    this.logger.warn(facts, 'the callbacks are slower than the rate: simulated events were skipped');
    this.missedSinceWarning = 0;
    this.lastWarningMs = nowMs;
  }
}
