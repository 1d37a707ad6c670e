/**
 * Waits until the work ends or the time limit is reached. Ignores a failure of the work. Use this for work that must not block a shutdown.
 */
export async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([
    work.then(
      () => undefined,
      () => undefined,
    ),
    limit,
  ]);
  clearTimeout(timer);
}
