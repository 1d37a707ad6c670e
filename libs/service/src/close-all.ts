/**
 * Runs every step of an orderly end, also when one before it fails: a broker that is away must not keep the database
 * connection, or a whole server, from being closed.
 *
 * @throws AggregateError with the failures, when all steps were run
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
