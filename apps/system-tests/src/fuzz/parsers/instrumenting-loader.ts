import { fileURLToPath } from 'node:url';
import type { LoadHook } from 'node:module';
import { createInstrumenter } from 'istanbul-lib-instrument';
import { coverageVariable } from '../coverage.js';

const instrumenter = createInstrumenter({ esModules: true, coverageVariable, compact: true });

/** Module loader that adds coverage counters to the services and to this repository's libraries. `parser-process.ts` registers it. */
export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  if (!/\/(apps|libs)\/[^/]+\/dist\//.test(url) || url.includes('/system-tests/') || !loaded.source)
    return loaded;
  const code =
    typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString();
  return { ...loaded, source: instrumenter.instrumentSync(code, fileURLToPath(url)) };
};
