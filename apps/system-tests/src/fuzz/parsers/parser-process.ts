import { register } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import 'reflect-metadata';
import type { ParserOptions, ParserReport } from './parser-run.js';

// `runParser` forks this module. If a parser hangs or crashes, the test goes on.

register('./instrumenting-loader.js', import.meta.url);

// Import these after the loader is registered. The loader then counts which code the inputs reach.
const { fuzzParser } = await import('./fuzz-parser.js');
const { parserTargets } = await import('./targets.js');

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // Safe cast: the flag --expose-gc defines it

process.once('message', ({ name, seed, inputs }: ParserOptions) => {
  void run({ name, seed, inputs }).then((report) => process.send?.(report, () => process.disconnect()));
});

async function run({ name, seed, inputs }: ParserOptions): Promise<ParserReport> {
  const target = parserTargets.find((candidate) => candidate.name === name);
  if (!target) throw new Error(`unknown parser ${name}`);
  // After a fifth of the inputs, caches are full and all code is compiled.
  const warmUp = Math.ceil(inputs / 5);
  let heapBefore = 0;
  const startedAt = performance.now();
  const counts = await fuzzParser(target, {
    seed,
    inputs,
    onProgress: ({ inputs: done }) => {
      if (heapBefore === 0 && done >= warmUp) heapBefore = measureHeap();
      process.send?.({ done });
    },
  });
  const heapGrowth = measureHeap() - heapBefore;
  return { ...counts, ms: performance.now() - startedAt, heapGrowth };
}

/** Heap in use after garbage collection, in bytes. */
function measureHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
