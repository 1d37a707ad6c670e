import type { System } from '../system/system.js';
import { startSystem } from '../system/system.js';
import type { FilledStores } from './filled-stores.js';

/** A version of the product, with stores of its own. */
export interface Version {
  name: 'this version' | 'baseline';
  stores: FilledStores;
}

/** The parts of a benchmark: the versions to compare, and whether it is the short run. */
export interface BenchBed {
  /** This version first. */
  versions: readonly Version[];
  isQuick: boolean;
}

/** Runs something on one gateway and one events service. */
export async function withSystem<T>(
  { stores }: Version,
  databaseUrl: string,
  work: (system: System) => Promise<T>,
): Promise<T> {
  const system = await startSystem(stores.servers, databaseUrl, {
    gateways: 1,
    events: 1,
    checkout: stores.checkout,
  });
  try {
    return await work(system);
  } finally {
    await system.stop();
  }
}

/** The port of the system's gateway. */
export function portOf(system: System): number {
  return Number(new URL(system.gateways[0]?.url ?? '').port);
}
