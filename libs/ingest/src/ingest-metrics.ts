import { perRegistry, startAtZero, type Registry } from '@stream-events/service';
import type { IngestOptions } from './ingest-options.js';
import { ingestMetrics } from './metrics.js';

/** How an event reached the service. `api`: a client sent the event. */
export type IngestTransport = 'api' | 'webhook' | 'conduit' | 'websocket';

const transports = {
  gateway: ['api', 'webhook'],
  'platform-connector': ['conduit', 'websocket'],
} as const;
const outcomes = ['stored', 'known', 'dead_lettered', 'deferred', 'unavailable', 'failed'];

/** The current state of one service's ingest path, for the gauges. */
export interface IngestState {
  isDegraded: () => boolean;
  countWaiting: () => number;
}

/** The metrics of the ingest path. The gateway and the platform connector can share a registry, so each metric has the label `app`. */
const metricsOf = perRegistry((registry) => {
  const states = new Map<string, IngestState>();
  const fallbacks = new Map<string, () => boolean>();
  ingestMetrics.ingest_degraded.create(registry, (gauge) => {
    for (const [app, { isDegraded }] of states) gauge.set({ app }, isDegraded() ? 1 : 0);
  });
  ingestMetrics.ingest_waiting_events.create(registry, (gauge) => {
    for (const [app, { countWaiting }] of states) gauge.set({ app }, countWaiting());
  });
  ingestMetrics.ingest_fallback_in_use.create(registry, (gauge) => {
    for (const [app, isInUse] of fallbacks) gauge.set({ app }, isInUse() ? 1 : 0);
  });
  return {
    states,
    fallbacks,
    eventsTotal: ingestMetrics.ingest_events_total.create(registry),
    batchEvents: ingestMetrics.ingest_batch_events.create(registry),
    batchSeconds: ingestMetrics.ingest_batch_duration_seconds.create(registry),
  };
});

export class IngestMetrics {
  private readonly app: string;
  private readonly metrics: ReturnType<typeof metricsOf>;

  constructor(registry: Registry, { app }: Pick<IngestOptions, 'app'>) {
    this.app = app;
    this.metrics = metricsOf(registry);
    const all = transports[app].flatMap((transport) =>
      outcomes.map((outcome) => ({ app, transport, outcome })),
    );
    startAtZero(this.metrics.eventsTotal, all);
  }

  watch(state: IngestState): void {
    this.metrics.states.set(this.app, state);
  }

  watchFallback(isInUse: () => boolean): void {
    this.metrics.fallbacks.set(this.app, isInUse);
  }

  noteEvent(transport: IngestTransport, outcome: string): void {
    this.metrics.eventsTotal.inc({ app: this.app, transport, outcome });
  }

  noteBatch(events: number, startedAtMs: number): void {
    const { app } = this;
    this.metrics.batchEvents.observe({ app }, events);
    this.metrics.batchSeconds.observe({ app }, (performance.now() - startedAtMs) / 1_000);
  }
}
