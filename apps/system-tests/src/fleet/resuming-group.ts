import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { checkDeliveries, type Expectation } from './check-deliveries.js';
import { readLatencies } from './counting-group.js';
import type { EpochNames } from './delivery-log.js';
import type { FleetCounts, Judgement, StreamHistory } from './fleet-messages.js';
import { ResumingClient, type ClientPlan, type ResumingCounts } from './resuming-client.js';
import { passes, type FilterParameters } from './test-events.js';

const maxExamples = 20;

/** Clients that resume from their last position and log everything they receive. */
export class ResumingGroup {
  private readonly clients: ResumingClient[];
  private readonly counts = noCounts();
  private latencies: RecordableHistogram = createHistogram();

  constructor(plans: readonly ClientPlan[], epochs: EpochNames) {
    const surroundings = {
      epochs,
      counts: this.counts,
      onLatency: (microseconds: number) => this.latencies.record(Math.max(1, Math.round(microseconds))),
    };
    this.clients = plans.map((plan) => new ResumingClient(plan, surroundings));
    for (const client of this.clients) client.open();
  }

  close(): void {
    for (const client of this.clients) client.close();
  }

  setReading(isReading: boolean): void {
    for (const client of this.clients) client.setReading(isReading);
  }

  takeCounts(): FleetCounts {
    const { latencies, clients } = this;
    const counts = { ...this.counts };
    Object.assign(this.counts, noCounts());
    this.latencies = createHistogram();
    return {
      ...counts,
      clients: clients.length,
      connected: clients.filter(({ isConnected }) => isConnected).length,
      positioned: clients.filter(({ hasPosition }) => hasPosition).length,
      latencyMs: readLatencies(latencies),
    };
  }

  judge(history: StreamHistory): Judgement {
    const judgement: Judgement = { clients: this.clients.length, found: 0, kinds: {}, examples: [] };
    const expectations = new Map<string, Expectation>();
    const repeated = this.findRepeated(history);
    for (const { plan, log } of this.clients) {
      const filter = JSON.stringify(plan.filter);
      const expectation = expectations.get(filter) ?? expect(plan.filter, history, repeated);
      expectations.set(filter, expectation);
      const findings = checkDeliveries(log, expectation);
      if (findings.length > 0) judgement.found += 1;
      for (const finding of findings) {
        judgement.kinds[finding.kind] = (judgement.kinds[finding.kind] ?? 0) + 1;
        if (judgement.examples.length < maxExamples) judgement.examples.push({ ...finding, filter });
      }
    }
    return judgement;
  }

  /**
   * For each epoch, the events that were already on the stream in an earlier epoch. Knows only events that the test or a client has seen.
   */
  private findRepeated(history: StreamHistory): ReadonlySet<number>[] {
    const order = history.map(({ epoch }) => epoch);
    // First epoch of each event.
    const first = new Map<number, number>();
    const note = (event: number, epoch: number): void => {
      first.set(event, Math.min(first.get(event) ?? epoch, epoch));
    };
    for (const [index, { events }] of history.entries()) for (const { event } of events) note(event, index);
    if (history.length > 1)
      for (const { log } of this.clients)
        for (const seen of log) if (seen.kind === 'event') note(seen.event, order.indexOf(seen.epoch));
    return history.map(
      ({ events }, index) =>
        new Set(events.map(({ event }) => event).filter((event) => (first.get(event) ?? index) < index)),
    );
  }
}

/** What a client with this filter must have received. */
function expect(
  filter: FilterParameters,
  history: StreamHistory,
  repeated: readonly ReadonlySet<number>[],
): Expectation {
  const wanted = new Set<number>();
  const epochs = history.map(({ epoch, events }, index) => {
    const passing = events
      .filter((event) => passes(filter, event))
      .map(({ sequence, event, check }) => {
        return { sequence, event, check, isRepeated: repeated[index]?.has(event) === true };
      });
    for (const { event } of passing) wanted.add(event);
    return { epoch, events: passing };
  });
  return { epochs, passes: (event) => wanted.has(event) };
}

function noCounts(): ResumingCounts {
  return { received: 0, connections: 0, gaps: {}, endings: {}, strange: [] };
}
