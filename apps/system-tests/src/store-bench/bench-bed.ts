import type { System } from '../system/system.js';
import { startSystem } from '../system/system.js';
import type { FilledStores } from './filled-stores.js';

/** A version of the service with its own stores. */
export interface Version {
  name: 'this version' | 'baseline';
  stores: FilledStores;
}

export interface BenchBed {
  /** This checkout comes first. */
  versions: readonly Version[];
  isQuick: boolean;
}

/** Runs `work` on one gateway and one events service. */
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

/** Port of the gateway. */
export function portOf(system: System): number {
  return Number(new URL(system.gateways[0]?.url ?? '').port);
}
