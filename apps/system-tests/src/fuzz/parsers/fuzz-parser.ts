import { Corpus } from '../corpus.js';
import { Coverage } from '../coverage.js';
import type { ParserTarget } from './parser-target.js';

export interface ParserCounts {
  inputs: number;
  /** Inputs by outcome, such as `accepted` or `refused`. */
  outcomes: Record<string, number>;
  /** Inputs kept because they reached new code. */
  kept: number;
  /** Statements, functions, and branches reached. */
  reached: number;
  /** Longest time for one input. */
  slowestMs: number;
  findings: ParserFinding[];
}

/** An input for which a parser broke its promise. */
export interface ParserFinding {
  /** In Base64. */
  input: string;
  error: string;
}

export interface ParserRun {
  seed: string;
  inputs: number;
  /** Called after each batch. If the calls stop, the parser hangs. */
  onProgress?: (counts: ParserCounts) => void;
}

// Inputs between two progress reports.
const batchSize = 500;
// Above this CPU time, an input is a finding. A parser normally needs microseconds, and a few milliseconds for the largest input.
const slowMs = 1_000;
const maxFindings = 20;

/** Calls a parser with many inputs. Mutates those that reach new code. */
export async function fuzzParser(
  target: ParserTarget,
  { seed, inputs, onProgress }: ParserRun,
): Promise<ParserCounts> {
  const corpus = new Corpus(target, `${seed} ${target.name}`);
  const coverage = new Coverage();
  const counts: ParserCounts = { inputs: 0, outcomes: {}, kept: 0, reached: 0, slowestMs: 0, findings: [] };
  await warmUp(target);
  while (counts.inputs < inputs && counts.findings.length < maxFindings) {
    const batch = Array.from({ length: Math.min(batchSize, inputs - counts.inputs) }, () => corpus.next());
    for (const input of batch) {
      await tryInput(target, input, counts);
      if (coverage.takeNew() > 0) corpus.add(input);
    }
    onProgress?.(counts);
  }
  return { ...counts, kept: corpus.found, reached: coverage.count };
}

/** Calls the parser once. The first call takes up to a second, because it prepares shared data such as the validation rules of classes. */
async function warmUp(target: ParserTarget): Promise<void> {
  try {
    await target.run(Buffer.from(target.seeds[0] ?? ''));
  } catch {
    // The run repeats this input and records its error.
  }
}

async function tryInput(target: ParserTarget, input: Buffer, counts: ParserCounts): Promise<void> {
  let { outcome, error, ms } = await call(target, input);
  // Repeat a slow input: garbage collection or other work can make a single call slow.
  if (ms > slowMs) ({ outcome, error, ms } = await call(target, input));
  if (error !== undefined) note(counts, input, error);
  if (ms > slowMs) note(counts, input, `took ${Math.round(ms)} ms of CPU`);
  counts.slowestMs = Math.max(counts.slowestMs, ms);
  counts.outcomes[outcome] = (counts.outcomes[outcome] ?? 0) + 1;
  counts.inputs += 1;
}

async function call(
  target: ParserTarget,
  input: Buffer,
): Promise<{ outcome: string; error: string | undefined; ms: number }> {
  const startedAt = process.cpuUsage();
  let outcome = 'defect';
  let error: string | undefined;
  try {
    outcome = await target.run(input);
  } catch (thrown) {
    error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  }
  // CPU time: on a busy machine, elapsed time includes waiting for a core.
  const { user, system } = process.cpuUsage(startedAt);
  return { outcome, error, ms: (user + system) / 1_000 };
}

function note(counts: ParserCounts, input: Buffer, error: string): void {
  counts.findings.push({ input: input.toString('base64'), error });
}
