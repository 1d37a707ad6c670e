import {
  Counter,
  durationBuckets,
  Gauge,
  Histogram,
  perRegistry,
  startAtZero,
  type Registry,
} from '@stream-events/service';
import type { IngestOptions } from './ingest-options.js';

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
  const registers = [registry];
  const states = new Map<string, IngestState>();
  const fallbacks = new Map<string, () => boolean>();
  new Gauge({
    name: 'ingest_degraded',
    help: '1 while the events service is unavailable and new events are rejected or diverted immediately; otherwise 0',
    labelNames: ['app'],
    registers,
    collect() {
      for (const [app, { isDegraded }] of states) this.set({ app }, isDegraded() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'ingest_waiting_events',
    help: 'Events waiting to be sent to the events service; more than 4,096 are rejected',
    labelNames: ['app'],
    registers,
    collect() {
      for (const [app, { countWaiting }] of states) this.set({ app }, countWaiting());
    },
  });
  new Gauge({
    name: 'ingest_fallback_in_use',
    help: '1 while platform messages go to the INGEST stream because the event store is unavailable, and for up to 5 minutes after the last such message; otherwise 0',
    labelNames: ['app'],
    registers,
    collect() {
      for (const [app, isInUse] of fallbacks) this.set({ app }, isInUse() ? 1 : 0);
    },
  });
  return {
    states,
    fallbacks,
    eventsTotal: new Counter({
      name: 'ingest_events_total',
      help: 'Received events by transport (api, webhook, conduit, websocket) and outcome: stored, known, dead_lettered, deferred (on the INGEST stream), unavailable, or failed',
      labelNames: ['app', 'transport', 'outcome'],
      registers,
    }),
    batchEvents: new Histogram({
      name: 'ingest_batch_events',
      help: 'Events per batch sent to the events service',
      labelNames: ['app'],
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'ingest_batch_duration_seconds',
      help: 'Time to store a batch of events, with retries',
      labelNames: ['app'],
      buckets: durationBuckets,
      registers,
    }),
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
