import type { FailureLog } from './failure-log.js';

/**
 * Reads what a gauge shows. Returns undefined when that fails, so that the other metrics are still served, and the log says why.
 * A gauge without labels then shows NaN, and a gauge with labels shows nothing.
 */
export async function readForGauge<T>(
  gauge: object,
  failureLog: FailureLog,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (err) {
    const { name: metric } = gauge as { name: string }; // holds: prom-client sets it, but does not declare it
    // With the name in the message, one gauge does not hide another one.
    failureLog.warn(`cannot update the metric ${metric}`, { err });
    return undefined;
  }
}
