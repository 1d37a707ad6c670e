import { perRegistry, type Gauge, type Registry } from '@stream-events/service';
import { messagingMetrics } from './metrics.js';

/** Returns how many requests are in progress, or wait for a reply, by subject. */
type ReadCounts = () => ReadonlyMap<string, number>;

/**
 * Metrics of requests between services, and of messages from streams. The values of the label `subject` are the subjects of contracts, so
 * there are few values.
 */
const metricsOf = perRegistry((registry) => {
  const sources = { handled: new Map<string, ReadCounts>(), sent: new Map<string, ReadCounts>() };
  messagingMetrics.nats_handled_requests_in_progress.create(registry, (gauge) =>
    show(gauge, sources.handled),
  );
  messagingMetrics.nats_sent_requests_waiting.create(registry, (gauge) => show(gauge, sources.sent));
  return {
    sources,
    handledTotal: messagingMetrics.nats_handled_requests_total.create(registry),
    handledSeconds: messagingMetrics.nats_handled_request_duration_seconds.create(registry),
    sentTotal: messagingMetrics.nats_sent_requests_total.create(registry),
    consumedTotal: messagingMetrics.stream_consumer_messages_total.create(registry),
    consumedSeconds: messagingMetrics.stream_consumer_handling_duration_seconds.create(registry),
  };
});

function show(gauge: Gauge<'app' | 'subject'>, sources: ReadonlyMap<string, ReadCounts>): void {
  for (const [app, read] of sources)
    for (const [subject, count] of read()) gauge.set({ app, subject }, count);
}

/** Counts the requests that a service handles. */
export class HandledRequests {
  private readonly metrics: ReturnType<typeof metricsOf>;

  constructor(
    registry: Registry,
    private readonly app: string,
    inProgress: ReadCounts,
  ) {
    this.metrics = metricsOf(registry);
    this.metrics.sources.handled.set(app, inProgress);
  }

  note(subject: string, result: string, startedAtMs: number): void {
    const { app } = this;
    this.metrics.handledTotal.inc({ app, subject, result });
    this.metrics.handledSeconds.observe({ app, subject }, (performance.now() - startedAtMs) / 1_000);
  }
}

/** Counts the requests that a service sends. */
export class SentRequests {
  private readonly metrics: ReturnType<typeof metricsOf>;

  constructor(
    registry: Registry,
    private readonly app: string,
    waiting: ReadCounts,
  ) {
    this.metrics = metricsOf(registry);
    this.metrics.sources.sent.set(app, waiting);
  }

  note(subject: string, result: string): void {
    this.metrics.sentTotal.inc({ app: this.app, subject, result });
  }
}

/** Counts the messages of one durable consumer. */
export class ConsumedMessages {
  private readonly metrics: ReturnType<typeof metricsOf>;

  constructor(
    registry: Registry,
    private readonly labels: { stream: string; consumer: string },
  ) {
    this.metrics = metricsOf(registry);
  }

  note(outcome: string): void {
    this.metrics.consumedTotal.inc({ ...this.labels, outcome });
  }

  noteDuration(startedAtMs: number): void {
    this.metrics.consumedSeconds.observe(this.labels, (performance.now() - startedAtMs) / 1_000);
  }
}
