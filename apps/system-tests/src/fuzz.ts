import 'reflect-metadata';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FuzzBed } from './fuzz/fuzz-bed.js';
import { parts, type Part, type PartResult } from './fuzz/parts.js';
import { printFuzzSections } from './fuzz/report.js';
import { say } from './measure/progress.js';
import { report, type SystemTest } from './measure/report.js';

// npm run fuzz: sends mutated inputs to the parsers and to the running system, and writes docs/fuzzing.md. --quick sends few inputs;
// --inputs N sends N inputs to each target; --seed S generates other inputs. --only A,B runs some parts, for example `parser`, `wire`,
// `schemathesis`, or `wire/webhook`. --results FOLDER saves the result of each part, so that several runs with --only together write the
// page. Only complete results replace the page: all parts, with 100,000 inputs per target.

const test: SystemTest = {
  title: 'Fuzzing',
  command: 'fuzz',
  page: 'fuzzing.md',
  setting:
    'One gateway, one events service, two connectors, two streamer monitors, and the simulated platform, each in its own process, with embedded PostgreSQL (durable) and nats-server. Services, servers, and the test share one machine.',
};
const fullInputs = 100_000;
const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    inputs: { type: 'string' },
    results: { type: 'string' },
  },
});
const inputs = Number(flags.inputs ?? (flags.quick ? 2_000 : fullInputs));
const options = { seed: flags.seed, inputs };

function chooseParts(): readonly Part[] {
  const names = flags.only?.split(',');
  const unknown = names?.filter((name) => !parts.some((part) => isNamed(part, name))) ?? [];
  if (unknown.length > 0)
    throw new Error(`unknown part ${unknown.join()}; the parts are ${parts.map(({ id }) => id).join(', ')}`);
  return names ? parts.filter((part) => names.some((name) => isNamed(part, name))) : parts;
}

function isNamed({ id }: Part, name: string): boolean {
  return id === name || id.startsWith(`${name}/`);
}

function fileOf(id: string): string | undefined {
  return flags.results === undefined ? undefined : join(flags.results, `${id.replace('/', '-')}.json`);
}

/** Loads a part's result from an earlier run. Empty if there is none. */
function readResult({ id }: Part): PartResult[] {
  const file = fileOf(id);
  return file !== undefined && existsSync(file) ? [JSON.parse(readFileSync(file, 'utf8')) as PartResult] : []; // Safe cast: this test wrote it
}

async function run(part: Part, bed: FuzzBed): Promise<void> {
  say(`${part.id}: running`);
  const result = await part.run(options, bed);
  say(
    `${part.id}: ${result.inputs} inputs in ${Math.round(result.ms / 1_000)} s, ${JSON.stringify(result.outcomes)}, heap ${result.heapGrowth.toFixed(1)} MiB, ${result.findings.length} findings`,
  );
  for (const finding of result.findings) say(finding);
  results.set(part.id, result);
  const file = fileOf(part.id);
  if (file !== undefined) writeFileSync(file, JSON.stringify(result));
}

if (flags.results !== undefined) mkdirSync(flags.results, { recursive: true });
const results = new Map<string, PartResult>(parts.flatMap(readResult).map((result) => [result.id, result]));
const startedAt = performance.now();
const bed = await FuzzBed.start();
try {
  for (const part of chooseParts()) await run(part, bed);
  const all = parts.flatMap(({ id }) => results.get(id) ?? []);
  await report(test, {
    servers: bed.servers,
    // Add the time of earlier runs.
    startedAt: Math.min(startedAt, performance.now() - all.reduce((total, { ms }) => total + ms, 0)),
    sections: printFuzzSections(all, { seed: flags.seed, inputs }),
    isWhole: all.length === parts.length && inputs >= fullInputs,
  });
} finally {
  await bed.stop();
}
