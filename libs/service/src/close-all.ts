/**
 * Runs the steps of a shutdown in order. A failed step does not prevent the later ones: when the broker is unavailable, the database
 * connection must still close.
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
