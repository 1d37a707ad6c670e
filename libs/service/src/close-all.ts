/**
 * Runs the steps of a shutdown in order, including the steps after one that fails: an unavailable broker must not keep the
 * database connection or a server open.
 *
 * @throws AggregateError with the failures, after the last step
 */
export async function closeAll(steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} step(s) of the shutdown failed`);
}
