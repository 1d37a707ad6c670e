/** One run of a path on one side. */
export interface Run {
  /** CPU microseconds per unit of work, by process, without the load generator. */
  cpuMicroseconds: Readonly<Record<string, number>>;
  /** Units of work per second. */
  perSecond: number;
  /** Milliseconds. */
  p99: number;
  /** Requests that failed, or connections that ended. */
  failed: number;
  /** Events in a request to the events service, on average. Undefined if the path stores no events. */
  eventsPerBatch?: number | undefined;
}

export function cpuOf({ cpuMicroseconds }: Run): number {
  return Object.values(cpuMicroseconds).reduce((sum, microseconds) => sum + microseconds, 0);
}
