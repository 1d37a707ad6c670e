import type { FailureLog } from './failure-log.js';

/**
 * Reads the value of a gauge. When the read fails, logs why and returns undefined, so that the other metrics are still served. A gauge
 * without labels then shows NaN, and a gauge with labels shows nothing.
 */
export async function readForGauge<T>(
  gauge: object,
  failureLog: FailureLog,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (err) {
    const { name: metric } = gauge as { name: string }; // Safe cast: prom-client sets it, but does not declare it
    // The log limits lines per message, so put the name into the message. Otherwise, the failure of one gauge would hide the
    // failure of another.
    failureLog.warn(`cannot update the metric ${metric}`, { err });
    return undefined;
  }
}
