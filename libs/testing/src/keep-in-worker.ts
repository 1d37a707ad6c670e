/**
 * Returns what an earlier test file of this Jest worker created under this name, or creates it. Nobody ends it: it must end with the worker's
 * process.
 */
export function keepInWorker<Kept>(name: string, create: () => Kept): Kept {
  // tools/jest-environment.mjs sets the variable.
  const { keptInWorker } = globalThis as { keptInWorker?: Map<string, Kept> };
  if (!keptInWorker) throw new Error(`${name}: run the test with Jest`);
  const kept = keptInWorker.get(name) ?? create();
  keptInWorker.set(name, kept);
  return kept;
}
