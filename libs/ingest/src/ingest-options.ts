export const INGEST_OPTIONS = Symbol('INGEST_OPTIONS');

export interface IngestOptions {
  /** The value of the metrics' label `app`. Services in one process share a registry. */
  app: 'gateway' | 'platform-connector';
  /** Whether platform messages that cannot be stored are published to the INGEST stream. */
  hasFallback: boolean;
  /** How long the circuit stays open after a failure, in milliseconds. The default is 1,000. Tests shorten it. */
  circuitRestMs?: number;
}

/**
 * How long the circuit stays open after a failure. While it is open, clients fail immediately instead of waiting seconds for a store that
 * hangs.
 */
export const defaultCircuitRestMs = 1_000;
