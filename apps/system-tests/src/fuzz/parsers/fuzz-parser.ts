import { Corpus } from '../corpus.js';
import { Coverage } from '../coverage.js';
import type { ParserTarget } from './parser-target.js';

/** The counts of a run. */
export interface ParserCounts {
  inputs: number;
  /** The number of inputs by outcome, such as `accepted` or `refused`. */
  outcomes: Record<string, number>;
  /** The number of inputs that were kept because they reached new code. */
  kept: number;
  /** The number of statements, functions, and branches that were reached. */
  reached: number;
  /** The longest time for one input. */
  slowestMs: number;
  findings: ParserFinding[];
}

/** An input for which a parser broke its promise. */
export interface ParserFinding {
  /** The input, as Base64. */
  input: string;
  error: string;
}

/** The seed and the number of inputs of a run. */
export interface ParserRun {
  seed: string;
  inputs: number;
  /** Called after each batch. When the calls stop, the parser hangs. */
  onProgress?: (counts: ParserCounts) => void;
}

// The number of inputs between two reports of progress.
const batchSize = 500;
// A parser needs microseconds for a short input, and some milliseconds for the largest input.
const slowMs = 1_000;
const maxFindings = 20;

/** Calls a parser with many inputs. Derives further inputs from inputs that reach new code. */
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

/** Makes the first call. It takes up to a second, because it prepares data that all calls use, such as the validation rules of classes. */
async function warmUp(target: ParserTarget): Promise<void> {
  try {
    await target.run(Buffer.from(target.seeds[0] ?? ''));
  } catch {
    // The run repeats this input and records its error.
  }
}

async function tryInput(target: ParserTarget, input: Buffer, counts: ParserCounts): Promise<void> {
  let { outcome, error, ms } = await call(target, input);
  // Other work of the process, such as collecting garbage, can fall into a call. Only an input that is slow again is slow.
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
  // CPU time, not elapsed time, because on a busy machine the process waits for a core.
  const { user, system } = process.cpuUsage(startedAt);
  return { outcome, error, ms: (user + system) / 1_000 };
}

function note(counts: ParserCounts, input: Buffer, error: string): void {
  counts.findings.push({ input: input.toString('base64'), error });
}
