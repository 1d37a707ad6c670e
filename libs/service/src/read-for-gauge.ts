import type { FailureLog } from './failure-log.js';

/**
 * Reads the value of a gauge. When the read fails, logs the reason and returns undefined, so that the other metrics are still served. The
 * caller then sets a gauge without labels to NaN, and exports no values of a gauge with labels.
 */
export async function readForGauge<T>(
  gauge: object,
  failureLog: FailureLog,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (err) {
    const { name: metric } = gauge as { name: string }; // Safe cast: prom-client sets `name`, but does not declare it
    // The log writes each message at most once per second. The metric's name keeps one failing gauge from hiding another.
    failureLog.warn(`cannot update the metric ${metric}`, { err });
    return undefined;
  }
}
