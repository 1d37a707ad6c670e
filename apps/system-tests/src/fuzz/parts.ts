import type { FuzzBed, Memory } from './fuzz-bed.js';
import { runParser } from './parsers/parser-run.js';
import type { ParserTarget } from './parsers/parser-target.js';
import { parserTargets } from './parsers/targets.js';
import { runSchemathesis } from './schemathesis.js';
import { checkSystemWorks } from './valid-requests.js';
import { fuzzOverWire, type WireCounts } from './wire/fuzz-wire.js';
import { bodyWireTarget, queryWireTarget, webhookWireTarget } from './wire/http-targets.js';
import { ingestWireTarget, requestWireTarget } from './wire/nats-targets.js';
import { rawHttpTarget } from './wire/raw-http.js';
import { firstMessageWireTarget, positionWireTarget } from './wire/web-socket-targets.js';
import type { WireTarget } from './wire/wire-target.js';

/** A part of the test that can run alone. */
export interface Part {
  id: string;
  run(options: PartOptions, bed: FuzzBed): Promise<PartResult>;
}

export interface PartOptions {
  seed: string;
  inputs: number;
}

export interface PartResult {
  id: string;
  description: string;
  inputs: number;
  ms: number;
  outcomes: Record<string, number>;
  slowestMs: number;
  /** Heap growth in MiB after the first fifth of the inputs, in the service that grew most. */
  heapGrowth: number;
  /** Extra facts: reached statements, retries, or the service that grew most. */
  notes: string[];
  findings: string[];
}

const mib = 1024 ** 2;
/**
 * Limit for heap growth in MiB. Caches grow less: the ring buffer of live events holds at most 16 MiB of records. In a full run, a leak of
 * 420 bytes per input exceeds this limit.
 */
export const maxHeapGrowth = 32;

const wireTargets: Readonly<Record<string, (bed: FuzzBed) => WireTarget | Promise<WireTarget>>> = {
  webhook: webhookWireTarget,
  'cursors and filters': queryWireTarget,
  bodies: bodyWireTarget,
  HTTP: rawHttpTarget,
  'first messages': firstMessageWireTarget,
  positions: positionWireTarget,
  'NATS requests': requestWireTarget,
  'INGEST messages': ingestWireTarget,
};

/** In the order of the page. */
export const parts: readonly Part[] = [
  ...parserTargets.map((target): Part => ({
    id: `parser/${target.name}`,
    run: (options) => runParserPart(target, options),
  })),
  ...Object.entries(wireTargets).map(([name, make]): Part => ({
    id: `wire/${name}`,
    run: (options, bed) => runWirePart(`wire/${name}`, make, { ...options, bed }),
  })),
  {
    id: 'schemathesis',
    run: (options, bed) => runSchemathesisPart(options, bed),
  },
];

async function runParserPart(target: ParserTarget, { seed, inputs }: PartOptions): Promise<PartResult> {
  const { name, description } = target;
  const id = `parser/${name}`;
  const report = await runParser({ name, seed, inputs });
  const heapGrowth = report.heapGrowth / mib;
  return {
    ...pick(report),
    id,
    description,
    heapGrowth,
    notes: [`${report.reached} statements and branches reached, ${report.kept} inputs kept`],
    findings: [...report.findings.map(printFinding), ...findGrowth(heapGrowth, 'the parser')],
  };
}

async function runWirePart(
  id: string,
  make: (bed: FuzzBed) => WireTarget | Promise<WireTarget>,
  { seed, inputs, bed }: PartOptions & { bed: FuzzBed },
): Promise<PartResult> {
  const target = await make(bed);
  try {
    // Two runs: the first fills caches and compiles code. Memory is measured only between and after the runs, when the services are idle.
    const warmUp = await fuzzOverWire(target, { seed: `${seed} warm-up`, inputs: Math.ceil(inputs / 5) });
    const before = await bed.measureMemory();
    const main = await fuzzOverWire(target, { seed, inputs: inputs - warmUp.inputs });
    const faults = (await target.finish?.()) ?? [];
    const { growth, service } = compare(before, await bed.measureMemory());
    const total = add(warmUp, main);
    return {
      ...pick(total),
      id,
      description: target.description,
      heapGrowth: growth,
      notes: [
        `heap of the ${service}`,
        ...(total.retries > 0 ? [`${total.retries} retries after an overload`] : []),
      ],
      findings: [
        ...total.findings.map(printFinding),
        ...faults,
        ...findGrowth(growth, service),
        ...(await bed.findFaults()),
        ...(await checkSystemWorks(bed)),
      ],
    };
  } finally {
    await target.close?.();
  }
}

async function runSchemathesisPart({ seed, inputs }: PartOptions, bed: FuzzBed): Promise<PartResult> {
  // A full run sends several hundred requests to each operation.
  const examples = Math.max(5, Math.min(60, Math.ceil(inputs / 1_000)));
  const before = await bed.measureMemory();
  const { cases, operations, findings, ms } = await runSchemathesis(bed, { seed, examples });
  const { growth, service } = compare(before, await bed.measureMemory());
  return {
    id: 'schemathesis',
    description: 'requests generated from the API description',
    inputs: cases,
    ms,
    outcomes: {},
    slowestMs: 0,
    heapGrowth: growth,
    notes: [`operations: ${operations}`, `heap of the ${service}`],
    findings: [...findings, ...(await bed.findFaults()), ...(await checkSystemWorks(bed))],
  };
}

type Counts = Pick<WireCounts, 'inputs' | 'ms' | 'outcomes' | 'slowestMs'>;

function pick({ inputs, ms, outcomes, slowestMs }: Counts): Counts {
  return { inputs, ms, outcomes, slowestMs };
}

function add(one: WireCounts, other: WireCounts): WireCounts {
  const outcomes = { ...one.outcomes };
  for (const [name, count] of Object.entries(other.outcomes)) outcomes[name] = (outcomes[name] ?? 0) + count;
  return {
    inputs: one.inputs + other.inputs,
    ms: one.ms + other.ms,
    outcomes,
    retries: one.retries + other.retries,
    slowestMs: Math.max(one.slowestMs, other.slowestMs),
    findings: [...one.findings, ...other.findings],
  };
}

/** Finds the service whose heap grew most. */
function compare(
  before: Map<string, Memory>,
  after: Map<string, Memory>,
): { service: string; growth: number } {
  const growths = [...after].map(([service, { heap }]) => ({
    service,
    growth: heap - (before.get(service)?.heap ?? 0),
  }));
  return growths.reduce((most, each) => (each.growth > most.growth ? each : most));
}

function findGrowth(growth: number, what: string): string[] {
  return growth > maxHeapGrowth ? [`the heap of ${what} grew by ${growth.toFixed(0)} MiB`] : [];
}

function printFinding({ input, error }: { input: string; error: string }): string {
  return `${error}\n  input: ${input.slice(0, 2_000)}`;
}
