import { parseArgs } from 'node:util';
import { StoreMetrics } from '@stream-events/events/benchmark';
import { HttpMetrics } from '@stream-events/gateway/benchmark';
import { generateId, IngestMetrics } from '@stream-events/ingest';
import { HandledRequests, SentRequests } from '@stream-events/messaging';
import { Registry } from '@stream-events/service';
import type { StoreOutcome } from '@stream-events/contracts';

// npm run bench:metrics: measures and prints how much CPU time metrics take per event, from the webhook to the EVENTS stream. Makes the
// services' metric calls in a loop, without running the services. --event-us is the CPU time of a whole event in microseconds (default: the
// value in docs/benchmarks.md).

const { values: flags } = parseArgs({ options: { 'event-us': { type: 'string', default: '313' } } });
const wholeEvent = Number(flags['event-us']);
const rounds = 11;
const eventsPerRound = 200_000;

const route = '/api/v1/platform-events/webhook';
const registry = new Registry();
const http = new HttpMetrics(registry);
const ingest = new IngestMetrics(registry, { app: 'gateway' });
const store = new StoreMetrics(registry);
// As many series as a busy system has.
const subjects = Array.from({ length: 60 }, (_, index) => `request.events.subject-${index}`);
const nothing = new Map<string, number>();
const handled = new HandledRequests(registry, 'events', () => nothing);
const sent = new SentRequests(registry, 'gateway', () => nothing);
for (const subject of subjects) {
  handled.note(subject, 'ok', performance.now());
  sent.note(subject, 'ok');
  http.note(`/${subject}`, 200, performance.now());
}

/** Makes one batch's metric calls: per event at the gateway, then per batch at the gateway and at the events service. */
function countBatch(events: readonly { id: string }[], outcomes: readonly StoreOutcome[]): void {
  const startedAt = performance.now();
  for (const _ of events) {
    ingest.noteEvent('webhook', 'stored');
    http.note(route, 204, startedAt);
  }
  ingest.noteBatch(events.length, startedAt);
  sent.note('request.events.subject-7', 'ok');
  handled.note('request.events.subject-7', 'ok', startedAt);
  store.noteBatch(events, outcomes, startedAt);
  // The second call stands for two cheaper metrics: the relay's lag per batch, and live delivery's lag per event-loop turn.
  store.noteBatch(events, outcomes, startedAt);
}

/** CPU microseconds per event: the median of all rounds. */
function measure(batchSize: number): number {
  const events = Array.from({ length: batchSize }, () => ({ id: generateId() }));
  const outcomes = events.map(({ id }): StoreOutcome => ({ id, outcome: 'stored' }));
  const batches = Math.ceil(eventsPerRound / batchSize);
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage();
    for (let batch = 0; batch < batches; batch += 1) countBatch(events, outcomes);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / (batches * batchSize);
  });
  return times.sort((one, other) => one - other)[rounds >> 1] ?? Number.NaN;
}

measure(32); // warm-up
process.stdout.write(
  '| events per batch | CPU of metrics per event | share of an event |\n| --- | --- | --- |\n',
);
for (const size of [1, 8, 32, 256]) {
  const microseconds = measure(size);
  const share = ((100 * microseconds) / wholeEvent).toFixed(1);
  process.stdout.write(`| ${size} | ${microseconds.toFixed(2)} µs | ${share} % of ${wholeEvent} µs |\n`);
}
const before = process.cpuUsage();
await registry.metrics();
const { user, system } = process.cpuUsage(before);
process.stdout.write(
  `\nA scrape of these metrics takes ${((user + system) / 1_000).toFixed(1)} ms of CPU.\n`,
);
