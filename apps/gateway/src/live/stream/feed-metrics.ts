import type { Counter, Gauge, Registry } from '@stream-events/service';
import type { GapReason } from '../gap-reasons.js';
import { gatewayMetrics } from '../../metrics.js';

export class FeedMetrics {
  private readonly readTotal: Counter;
  private readonly interruptionsTotal: Counter<'reason'>;
  private readonly lag: Gauge;

  constructor(registry: Registry, isFailing: () => boolean) {
    this.readTotal = gatewayMetrics.live_feed_messages_total.create(registry);
    this.interruptionsTotal = gatewayMetrics.live_feed_interruptions_total.create(registry);
    this.lag = gatewayMetrics.live_feed_lag_messages.create(registry);
    gatewayMetrics.live_feed_in_doubt.create(registry, (gauge) => gauge.set(isFailing() ? 1 : 0));
  }

  noteRead(): void {
    this.readTotal.inc();
  }

  noteInterruption(reason: GapReason): void {
    this.interruptionsTotal.inc({ reason });
  }

  noteLag(messages: number): void {
    this.lag.set(messages);
  }
}
