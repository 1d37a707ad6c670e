import { storeOutcomes, type NewEvent, type StoreOutcome } from '@stream-events/contracts';
import type { Counter, Histogram, Registry } from '@stream-events/service';
import { oldestAgeSeconds } from '../relay/event-age.js';
import { eventsMetrics } from '../metrics.js';

export class StoreMetrics {
  private readonly outcomesTotal: Counter<'outcome'>;
  private readonly batchEvents: Histogram;
  private readonly batchSeconds: Histogram;
  private readonly lag: Histogram;

  constructor(registry: Registry) {
    this.outcomesTotal = eventsMetrics.events_ingest_total.create(registry);
    this.batchEvents = eventsMetrics.events_ingest_batch_events.create(registry);
    this.batchSeconds = eventsMetrics.events_ingest_batch_duration_seconds.create(registry);
    this.lag = eventsMetrics.events_store_lag_seconds.create(registry);
  }

  noteBatch(
    events: readonly Pick<NewEvent, 'id'>[],
    outcomes: readonly StoreOutcome[],
    startedAtMs: number,
  ): void {
    for (const outcome of storeOutcomes) {
      const count = outcomes.filter((each) => each.outcome === outcome).length;
      if (count > 0) this.outcomesTotal.inc({ outcome }, count);
    }
    this.batchEvents.observe(events.length);
    this.batchSeconds.observe((performance.now() - startedAtMs) / 1_000);
    this.lag.observe(oldestAgeSeconds(events, Date.now()));
  }
}
