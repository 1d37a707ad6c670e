import { Corpus } from '../corpus.js';
import { Coverage } from '../coverage.js';
import type { ParserTarget } from './parser-target.js';

/** What happened in a run. */
export interface ParserCounts {
  inputs: number;
  /** Inputs by what the parser made of them. */
  outcomes: Record<string, number>;
  /** Inputs that were kept, because they reached new code. */
  kept: number;
  /** Statements, functions, and branches that were reached. */
  reached: number;
  /** The longest time for one input. */
  slowestMs: number;
  findings: ParserFinding[];
}

/** An input that a parser did not handle as it promises. */
export interface ParserFinding {
  /** The input, as Base64. */
  input: string;
  error: string;
}

/** How many inputs a run has. */
export interface ParserRun {
  seed: string;
  inputs: number;
  /** Called regularly, so that a parser that hangs is noticed. */
  onProgress?: (counts: ParserCounts) => void;
}

// Progress is reported after each batch.
const batchSize = 500;
// A parser takes microseconds for a short input, and some milliseconds for the largest.
const slowMs = 1_000;
const maxFindings = 20;

/** Calls a parser with many inputs. Inputs that reach new code are the base of further inputs. */
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

/** The first call prepares what all calls use, such as the rules of classes, and takes up to a second. */
async function warmUp(target: ParserTarget): Promise<void> {
  try {
    await target.run(Buffer.from(target.seeds[0] ?? ''));
  } catch {
    // The same input comes again, and its error is noted then.
  }
}

async function tryInput(target: ParserTarget, input: Buffer, counts: ParserCounts): Promise<void> {
  const startedAt = process.cpuUsage();
  let outcome = 'defect';
  try {
    outcome = await target.run(input);
  } catch (error) {
    note(counts, input, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  // Not the time that passed: on a busy machine, the process waits for a core.
  const { user, system } = process.cpuUsage(startedAt);
  const ms = (user + system) / 1_000;
  if (ms > slowMs) note(counts, input, `took ${Math.round(ms)} ms of CPU`);
  counts.slowestMs = Math.max(counts.slowestMs, ms);
  counts.outcomes[outcome] = (counts.outcomes[outcome] ?? 0) + 1;
  counts.inputs += 1;
}

function note(counts: ParserCounts, input: Buffer, error: string): void {
  counts.findings.push({ input: input.toString('base64'), error });
}
