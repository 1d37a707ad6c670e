/**
 * Waits for shared work, but only until the signal aborts. The work itself continues for its other callers.
 *
 * @throws the signal's reason when the signal aborts, or the error from the work
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error); // Safe cast: throwIfAborted() throws the same value.
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
