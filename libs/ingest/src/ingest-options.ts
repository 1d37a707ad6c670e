/** Injection token of the `IngestOptions`. */
export const INGEST_OPTIONS = Symbol('INGEST_OPTIONS');

/** How a service ingests events. */
export interface IngestOptions {
  /** The label `app` of the metrics, because several services in one process share a registry. */
  app: 'gateway' | 'platform-connector';
  /** Whether platform messages that cannot be stored are published to the INGEST stream. */
  hasFallback: boolean;
  /** How long the circuit stays open after a failure, in milliseconds; 1,000 by default. Tests shorten it. */
  circuitRestMs?: number;
}

/** After a failure, send nothing for this time. Otherwise, a store that hangs would delay every client by seconds. */
export const defaultCircuitRestMs = 1_000;
