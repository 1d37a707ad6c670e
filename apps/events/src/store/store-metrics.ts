import { storeOutcomes, type NewEvent, type StoreOutcome } from '@stream-events/contracts';
import { Counter, durationBuckets, Histogram, lagBuckets, type Registry } from '@stream-events/service';
import { oldestAgeSeconds } from '../relay/event-age.js';

export class StoreMetrics {
  private readonly outcomesTotal: Counter<'outcome'>;
  private readonly batchEvents: Histogram;
  private readonly batchSeconds: Histogram;
  private readonly lag: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    this.outcomesTotal = new Counter({
      name: 'events_ingest_total',
      help: 'Received events by outcome: stored, known (received before), or dead_lettered (rejected or expired)',
      labelNames: ['outcome'],
      registers,
    });
    this.batchEvents = new Histogram({
      name: 'events_ingest_batch_events',
      help: 'Events per batch that the events service received',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    });
    this.batchSeconds = new Histogram({
      name: 'events_ingest_batch_duration_seconds',
      help: 'Time to store a batch in the database, including its commit',
      buckets: durationBuckets,
      registers,
    });
    this.lag = new Histogram({
      name: 'events_store_lag_seconds',
      help: 'Time from the receipt of the oldest event of a batch until the batch was committed; events that waited on the INGEST stream count too',
      buckets: lagBuckets,
      registers,
    });
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
