import { Counter, Gauge, type Registry } from '@stream-events/service';
import type { GapReason } from '../gap-reasons.js';

export class FeedMetrics {
  private readonly readTotal: Counter;
  private readonly interruptionsTotal: Counter<'reason'>;
  private readonly lag: Gauge;

  constructor(registry: Registry, isFailing: () => boolean) {
    const registers = [registry];
    this.readTotal = new Counter({
      name: 'live_feed_messages_total',
      help: 'Messages of the EVENTS stream that live delivery has read',
      registers,
    });
    this.interruptionsTotal = new Counter({
      name: 'live_feed_interruptions_total',
      help: 'Interruptions, by reason: the EVENTS stream did not continue after the last event read, so live clients got a gap',
      labelNames: ['reason'],
      registers,
    });
    this.lag = new Gauge({
      name: 'live_feed_lag_messages',
      help: 'Messages on the EVENTS stream that live delivery had not read at the last check',
      registers,
    });
    new Gauge({
      name: 'live_feed_in_doubt',
      help: '1 while live delivery cannot read the EVENTS stream, or the stream has lost its tail; otherwise 0',
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
