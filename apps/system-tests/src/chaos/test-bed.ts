import type { ServerSet } from '../system/servers.js';
import { startSystem, type System, type SystemSize } from '../system/system.js';
import { StoreReader } from './store-reader.js';
import { StreamReader } from './stream-reader.js';

/** Gateways and events services with their servers, and readers of what they store and publish. */
export interface TestBed<S extends ServerSet = ServerSet> {
  servers: S;
  databaseUrl: string;
  system: System;
  store: StoreReader;
  stream: StreamReader;
  /** `stop` runs this first. */
  onStop(stop: () => Promise<void>): void;
  /** Stops everything. */
  stop(): Promise<void>;
}

/** Starts a bed on servers that have just started. @param database name of its database */
export async function startTestBed<S extends ServerSet>(
  servers: S,
  database: string,
  size: SystemSize,
): Promise<TestBed<S>> {
  const stops = [() => servers.stop()];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const databaseUrl = await servers.createDatabase(database);
    const system = await startSystem(servers, databaseUrl, size);
    stops.push(() => system.stop());
    const store = await StoreReader.connect(servers, databaseUrl);
    stops.push(() => store.close());
    const stream = await StreamReader.connect(servers);
    stops.push(() => stream.close());
    const onStop = (each: () => Promise<void>): void => void stops.push(each);
    return { servers, databaseUrl, system, store, stream, onStop, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
