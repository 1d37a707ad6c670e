/** Waits for `delayMs`. Returns early when the signal aborts. */
export function waitFor(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', settle);
      resolve();
    };
    const timer = setTimeout(settle, delayMs);
    signal.addEventListener('abort', settle);
    if (signal.aborted) settle();
  });
}
