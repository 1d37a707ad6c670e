import { Counter, Gauge, type Registry } from '@stream-events/service';
import type { GapReason } from '../gap-reasons.js';

/** What is measured of the feed. */
export class FeedMetrics {
  private readonly readTotal: Counter;
  private readonly interruptionsTotal: Counter<'reason'>;
  private readonly lag: Gauge;

  constructor(registry: Registry, isFailing: () => boolean) {
    const registers = [registry];
    this.readTotal = new Counter({
      name: 'live_feed_messages_total',
      help: 'Messages of the EVENTS stream that were read for live clients',
      registers,
    });
    this.interruptionsTotal = new Counter({
      name: 'live_feed_interruptions_total',
      help: 'How often the stream did not go on where it was read up to, which live clients were told, by reason',
      labelNames: ['reason'],
      registers,
    });
    this.lag = new Gauge({
      name: 'live_feed_lag_messages',
      help: 'Messages that were on the EVENTS stream and not read yet, when it was last looked at',
      registers,
    });
    new Gauge({
      name: 'live_feed_in_doubt',
      help: '1 while the EVENTS stream cannot be read for live clients, or has lost its end; else 0',
      registers,
      collect() {
        this.set(isFailing() ? 1 : 0);
      },
    });
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
