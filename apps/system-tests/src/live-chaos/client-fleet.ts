import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { checkDeliveries, type Expectation } from './check-deliveries.js';
import { EpochNames } from './delivery-log.js';
import type { FleetCommand, FleetCounts, Judgement, StreamHistory } from './fleet-messages.js';
import { ResumingClient, type ClientCounts, type ClientPlan } from './resuming-client.js';
import { passes, type FilterParameters } from './test-events.js';

// This process is forked by `Fleet`: it runs clients, and answers each command with its result.

const maxExamples = 20;

class ClientGroup {
  private clients: ResumingClient[] = [];
  private readonly counts = noCounts();
  private latencies: RecordableHistogram = createHistogram();

  constructor(private readonly epochs: EpochNames) {}

  open(plans: readonly ClientPlan[]): void {
    const { epochs, counts } = this;
    const surroundings = {
      epochs,
      counts,
      onLatency: (microseconds: number) => this.latencies.record(Math.max(1, Math.round(microseconds))),
    };
    this.clients = plans.map((plan) => new ResumingClient(plan, surroundings));
    this.reopen();
  }

  reopen(): void {
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
    Object.assign(this.counts, noCounts(), { lastReceivedAt: counts.lastReceivedAt });
    this.latencies = createHistogram();
    const milliseconds = (microseconds: number): number => (counts.received === 0 ? 0 : microseconds / 1_000);
    return {
      ...counts,
      clients: clients.length,
      connected: clients.filter(({ isConnected }) => isConnected).length,
      positioned: clients.filter(({ hasPosition }) => hasPosition).length,
      latencyMs: {
        p50: milliseconds(latencies.percentile(50)),
        p99: milliseconds(latencies.percentile(99)),
        max: milliseconds(latencies.max),
      },
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

  /** For each epoch, the events that were on the stream in an earlier one, as far as anybody has seen them there. */
  private findRepeated(history: StreamHistory): ReadonlySet<number>[] {
    const order = history.map(({ epoch }) => epoch);
    // Each event by the first epoch that had it.
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

/** What clients with a filter should have got. */
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

function noCounts(): ClientCounts {
  return { received: 0, lastReceivedAt: 0, connections: 0, gaps: {}, endings: {}, strange: [] };
}

const epochs = new EpochNames();
const groups = new Map<string, ClientGroup>();

function groupOf(name: string): ClientGroup {
  const group = groups.get(name) ?? new ClientGroup(epochs);
  groups.set(name, group);
  return group;
}

function obey(command: FleetCommand): FleetCounts | Judgement | undefined {
  const group = groupOf(command.group);
  switch (command.kind) {
    case 'open':
      group.open(command.plans);
      return undefined;
    case 'close':
      group.close();
      return undefined;
    case 'reopen':
      group.reopen();
      return undefined;
    case 'read':
      group.setReading(command.isReading);
      return undefined;
    case 'count':
      return group.takeCounts();
    case 'judge':
      return group.judge(command.history);
    case 'drop':
      group.close();
      groups.delete(command.group);
      return undefined;
  }
}

process.on('message', ({ id, command }: { id: number; command: FleetCommand }) => {
  process.send?.({ id, result: obey(command) });
});
process.once('disconnect', () => process.exit());
