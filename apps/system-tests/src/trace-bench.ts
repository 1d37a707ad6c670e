import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startOpenLoop } from './load/load.js';
import { cpuMicrosecondsPer, cpuReader } from './measure/cpu-by-role.js';
import { medianInterval } from './measure/median-interval.js';
import { say } from './measure/progress.js';
import { median } from './measure/quantile.js';
import { formatCount, report, table, type SystemTest } from './measure/report.js';
import { createStoreTemplate } from './system/filled-store.js';
import { startServers, type Servers } from './system/servers.js';
import { startSystem } from './system/system.js';

// npm run bench:traces: measures the cost of traces, and writes docs/trace-benchmarks.md. --before PATH also measures a built checkout of
// an earlier version. --pairs runs fewer pairs, prints the result, and leaves the page unchanged.

const test: SystemTest = {
  title: 'Cost of traces',
  command: 'bench:traces',
  page: 'trace-benchmarks.md',
  setting: 'Services, servers, load, and a receiver that discards all traces share one machine.',
};

const allPairs = 10;
const { values: flags } = parseArgs({
  options: { pairs: { type: 'string', default: String(allPairs) }, before: { type: 'string' } },
});
const pairs = Number(flags.pairs);

const startedAt = performance.now();
const filledEvents = 20_000;
// Events per second: far below the maximum of two cores, so that batch sizes do not depend on other load on the machine.
const perSecond = 400;
const warmUpSeconds = 8;
const seconds = 15;

type Variant = 'before' | 'off' | 'at 1 %';

class TraceBench {
  private readonly receiver = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  });

  constructor(
    private readonly servers: Servers,
    private readonly createStore: () => Promise<string>,
  ) {}

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.receiver.listen(0, '127.0.0.1', resolve));
  }

  stop(): void {
    this.receiver.closeAllConnections();
    this.receiver.close();
  }

  /** CPU microseconds per event, over all services and servers. */
  async measure(variant: Variant): Promise<number> {
    const { servers } = this;
    const { port } = this.receiver.address() as AddressInfo; // Safe cast: the server listens on TCP.
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
    const system = await startSystem(servers, await this.createStore(), {
      gateways: 1,
      events: 1,
      ...(variant === 'at 1 %' && { environment }),
      ...(variant === 'before' && { checkout: flags.before }),
    });
    try {
      const { webhookSecret, token, gateways, events } = system;
      const ports = gateways.map(({ url }) => Number(new URL(url).port));
      const target = { kind: 'notifications', connections: 32, ports, webhookSecret, token } as const;
      const load = startOpenLoop({ ...target, perSecond });
      const pids = { gateway: gateways.map(({ pid }) => pid), events: events.map(({ pid }) => pid) };
      const readCpu = cpuReader({ pids, servers, load });
      await wait(warmUpSeconds * 1_000);
      await load.takeCounts();
      const before = readCpu();
      await wait(seconds * 1_000);
      const { succeeded } = await load.takeCounts();
      const { load: _, ...byProcess } = cpuMicrosecondsPer(succeeded, before, readCpu());
      await load.stop();
      const sum = Object.values(byProcess).reduce((total, each) => total + each, 0);
      const details = Object.entries(byProcess).map(([name, each]) => `${name} ${each.toFixed(0)}`);
      say(`traces ${variant}: ${sum.toFixed(1)} µs per event (${details.join(', ')}), ${succeeded} events`);
      return sum;
    } finally {
      await system.stop();
    }
  }
}

const servers = await startServers();
try {
  const bench = new TraceBench(servers, await createStoreTemplate(servers, filledEvents));
  await bench.start();
  const variants: Variant[] = flags.before === undefined ? ['off', 'at 1 %'] : ['before', 'off', 'at 1 %'];
  const results = new Map<Variant, number[]>(variants.map((variant) => [variant, []]));
  for (let pair = 1; pair <= pairs; pair += 1) {
    say(`round ${pair} of ${pairs}`);
    // Alternate the order, so that no variant always runs after the same other variant.
    const order = pair % 2 === 0 ? variants.toReversed() : variants;
    for (const variant of order) results.get(variant)?.push(await bench.measure(variant));
  }
  bench.stop();
  const ratiosOf = (variant: Variant, base: Variant): number[] => {
    const [above = [], below = []] = [results.get(variant), results.get(base)];
    return above.map((value, index) => value / (below[index] ?? Number.NaN));
  };
  const promiseOf = (variant: Variant, base: Variant, limit: number) => {
    const ratios = ratiosOf(variant, base);
    const { from, to, confidence } = medianInterval(ratios);
    const interval = `${from.toFixed(3)} to ${to.toFixed(3)} (${(100 * confidence).toFixed(0)} %)`;
    return {
      promise: `CPU per event, traces ${variant} ≤ ${limit} × ${base === 'off' ? 'traces off' : 'the earlier version'}`,
      measured: `${median(ratios).toFixed(3)}, median of ${pairs} pairs; interval ${interval}`,
      isKept: median(ratios) <= limit,
    };
  };
  const promises = [
    promiseOf('at 1 %', 'off', 1.05),
    ...(flags.before === undefined ? [] : [promiseOf('off', 'before', 1.02)]),
  ];
  const rows = variants.map((variant) => {
    const values = results.get(variant) ?? [];
    return [variant, `${median(values).toFixed(0)} µs`, values.map((value) => value.toFixed(0)).join(', ')];
  });
  const paragraphs = [
    `Signed notifications arrive at ${perSecond} per second, in an open loop, for ${seconds} s after ${warmUpSeconds} s of warm-up. The store holds ${formatCount(filledEvents)} events. CPU is the CPU time per event of the gateway, the events service, PostgreSQL, and nats-server.`,
    table(['traces', 'median', 'all runs, in µs per event'], rows),
  ];
  const sections = [{ title: 'Traces at 1 %', paragraphs, promises }];
  await report(test, { servers, startedAt, sections, isWhole: pairs === allPairs });
} finally {
  await servers.stop();
}
