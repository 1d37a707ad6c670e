import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ParserCounts } from './fuzz-parser.js';

export interface ParserOptions {
  name: string;
  seed: string;
  inputs: number;
}

export interface ParserReport extends ParserCounts {
  ms: number;
  /** Heap growth in bytes after the first fifth of the inputs. */
  heapGrowth: number;
}

// A parser without progress for this long counts as hanging. A batch normally takes a few milliseconds.
const hangMs = 60_000;

/**
 * Runs a parser on many inputs, in a separate process.
 *
 * @throws Error if the parser hangs or the process crashes
 */
export async function runParser(options: ParserOptions): Promise<ParserReport> {
  const child = fork(fileURLToPath(new URL('parser-process.js', import.meta.url)));
  const { name, seed } = options;
  let done = 0;
  let report: ParserReport | undefined;
  const onHang = (): void => void child.kill('SIGKILL');
  let timer = setTimeout(onHang, hangMs);
  child.on('message', (message: { done: number } | ParserReport) => {
    clearTimeout(timer);
    timer = setTimeout(onHang, hangMs);
    if ('done' in message) ({ done } = message);
    else report = message;
  });
  const ended = once(child, 'exit');
  child.send(options);
  const [, signal] = (await ended) as [number | null, string | null]; // Safe cast: the arguments of `exit`
  clearTimeout(timer);
  if (report) return report;
  throw new Error(
    `the parser ${name} ${signal === 'SIGKILL' ? 'hangs' : 'crashed'} after ${done} inputs from seed ${seed}`,
  );
}
