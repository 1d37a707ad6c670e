import { setTimeout as wait } from 'node:timers/promises';
import { Corpus } from '../corpus.js';
import { overloaded, type WireTarget } from './wire-target.js';

export interface WireCounts {
  inputs: number;
  ms: number;
  outcomes: Record<string, number>;
  /** Retries after overload, over all inputs. */
  retries: number;
  slowestMs: number;
  findings: WireFinding[];
}

/** An input for which the system broke its promise. */
export interface WireFinding {
  /** In Base64. */
  input: string;
  error: string;
}

export interface WireRun {
  seed: string;
  inputs: number;
  /** Called about once a second. */
  onProgress?: (counts: Readonly<WireCounts>) => Promise<void> | void;
}

// If no response arrives for this long, the system counts as hanging. The gateway waits up to 26 s for a request body, but the test sends
// bodies at once.
const hangMs = 15_000;
const maxFindings = 20;
const maxRetries = 60;

/** Sends many inputs, several at a time. */
export async function fuzzOverWire(
  target: WireTarget,
  { seed, inputs, onProgress }: WireRun,
): Promise<WireCounts> {
  const corpus = new Corpus(target, `${seed} ${target.name}`);
  const counts: WireCounts = { inputs: 0, ms: 0, outcomes: {}, retries: 0, slowestMs: 0, findings: [] };
  const startedAt = performance.now();
  let started = 0;
  const work = async (): Promise<void> => {
    while (started < inputs && counts.findings.length < maxFindings) {
      started += 1;
      await tryInput(target, { input: corpus.next(), corpus, counts });
      counts.inputs += 1;
    }
  };
  const workers = Array.from({ length: target.concurrency }, work);
  const progress = reportProgress(counts, onProgress);
  await Promise.all(workers);
  counts.ms = performance.now() - startedAt;
  await progress.stop();
  return counts;
}

async function tryInput(
  target: WireTarget,
  { input, corpus, counts }: { input: Buffer; corpus: Corpus; counts: WireCounts },
): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const startedAt = performance.now();
    const outcome = await attempt(target, input, corpus);
    counts.slowestMs = Math.max(counts.slowestMs, performance.now() - startedAt);
    const isFinal = 'error' in outcome || outcome.outcome !== overloaded;
    if (isFinal || tries >= maxRetries) {
      const error = isFinal ? outcome.error : `still overloaded after ${tries} retries`;
      const name = error === undefined ? (outcome.outcome ?? '') : 'defect';
      counts.outcomes[name] = (counts.outcomes[name] ?? 0) + 1;
      if (error !== undefined) counts.findings.push({ input: input.toString('base64'), error });
      return;
    }
    counts.retries += 1;
    await wait(Math.min(1_000, 50 * 2 ** tries));
  }
}

async function attempt(
  target: WireTarget,
  input: Buffer,
  { random }: Corpus,
): Promise<{ outcome?: string; error?: string }> {
  const limit = new AbortController();
  const late = wait(hangMs, undefined, { signal: limit.signal }).then(() => {
    throw new Error(`no response within ${hangMs} ms`);
  });
  try {
    return { outcome: await Promise.race([target.send(input, random), late]) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  } finally {
    late.catch(() => undefined); // nothing awaits this promise anymore
    limit.abort();
  }
}

function reportProgress(
  counts: WireCounts,
  onProgress: WireRun['onProgress'],
): { stop: () => Promise<void> } {
  const ended = new AbortController();
  const loop = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      // Only `stop` rejects this wait.
      await wait(1_000, undefined, { signal: ended.signal }).catch(() => undefined);
      await onProgress?.(counts);
    }
  };
  const running = loop();
  return {
    stop: async () => {
      ended.abort();
      await running;
    },
  };
}
