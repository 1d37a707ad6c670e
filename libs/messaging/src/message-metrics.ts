import {
  Counter,
  durationBuckets,
  Gauge,
  Histogram,
  perRegistry,
  type Registry,
} from '@stream-events/service';

/** Returns how many requests are in progress, or wait for a reply, by subject. */
type ReadCounts = () => ReadonlyMap<string, number>;

/**
 * Metrics of requests between services, and of messages from streams. The values of the label `subject` are the subjects of contracts, so
 * there are few values.
 */
const metricsOf = perRegistry((registry) => {
  const registers = [registry];
  const sources = { handled: new Map<string, ReadCounts>(), sent: new Map<string, ReadCounts>() };
  new Gauge({
    name: 'nats_handled_requests_in_progress',
    help: 'Requests from other services that are in progress, by subject; more than 256 are rejected',
    labelNames: ['app', 'subject'],
    registers,
    collect() {
      show(this, sources.handled);
    },
  });
  new Gauge({
    name: 'nats_sent_requests_waiting',
    help: 'Requests to other services that wait for a reply, by subject; more than 1,024 are rejected',
    labelNames: ['app', 'subject'],
    registers,
    collect() {
      show(this, sources.sent);
    },
  });
  return {
    sources,
    handledTotal: new Counter({
      name: 'nats_handled_requests_total',
      help: 'Handled requests from other services, by subject and result: ok, or the code of the error',
      labelNames: ['app', 'subject', 'result'],
      registers,
    }),
    handledSeconds: new Histogram({
      name: 'nats_handled_request_duration_seconds',
      help: 'Time from the arrival of a request from another service until its reply, by subject',
      labelNames: ['app', 'subject'],
      buckets: durationBuckets,
      registers,
    }),
    sentTotal: new Counter({
      name: 'nats_sent_requests_total',
      help: 'Requests to other services, by subject and result: ok, timeout, no_service, or the code of the error',
      labelNames: ['app', 'subject', 'result'],
      registers,
    }),
    consumedTotal: new Counter({
      name: 'stream_consumer_messages_total',
      help: 'Messages that a durable consumer handled, by outcome: done, discard (never delivered again), or retry (delivered again later)',
      labelNames: ['stream', 'consumer', 'outcome'],
      registers,
    }),
    consumedSeconds: new Histogram({
      name: 'stream_consumer_handling_duration_seconds',
      help: 'Time to handle a message of a durable consumer, or a batch of messages',
      labelNames: ['stream', 'consumer'],
      buckets: durationBuckets,
      registers,
    }),
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
