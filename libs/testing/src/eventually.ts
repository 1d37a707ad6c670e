import { setTimeout as wait } from 'node:timers/promises';

export interface EventuallyOptions {
  /** Default: 40 s. An operation that takes 1 s on an idle machine can take 20 s on a busy one. */
  timeoutMs?: number;
  /** Pause between two checks. Default: 10% of the time waited so far, from 20 ms to 500 ms. */
  intervalMs?: number;
}

// Pauses between checks, in milliseconds. Frequent checks in parallel tests would slow down the services under test: each check sends
// requests, and each failed check makes Jest compute a diff.
const pauses = { share: 0.1, min: 20, max: 500 };

/**
 * Calls `check` until it stops throwing, and returns its value. After the timeout, throws the last error with the elapsed time in front of
 * its message. A `check` that never settles also times out.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 40_000, intervalMs }: EventuallyOptions = {},
): Promise<T> {
  const startedAt = Date.now();
  const elapsed = (): number => Date.now() - startedAt;
  let lastError: unknown = new Error('the check did not settle');
  for (;;) {
    const outcome = await attempt(check, timeoutMs - elapsed());
    if (outcome.kind === 'value') return outcome.value;
    if (outcome.kind === 'error') lastError = outcome.error;
    const leftMs = timeoutMs - elapsed();
    if (leftMs <= 0) throw describeTimeout(lastError, elapsed());
    // The last check starts at the timeout, so only a check that settles at once can still succeed.
    await wait(Math.min(intervalMs ?? pauseAfter(elapsed()), leftMs));
  }
}

function pauseAfter(elapsedMs: number): number {
  return Math.min(Math.max(elapsedMs * pauses.share, pauses.min), pauses.max);
}

type Outcome<T> = { kind: 'value'; value: T } | { kind: 'error'; error: unknown } | { kind: 'too-late' };

async function attempt<T>(check: () => T | Promise<T>, remainingMs: number): Promise<Outcome<T>> {
  const settled = new AbortController();
  const tooLate = wait(Math.max(remainingMs, 0), { kind: 'too-late' } as const, { signal: settled.signal });
  try {
    return await Promise.race([run(check), tooLate]);
  } finally {
    settled.abort();
    // If `tooLate` is still pending, the abort rejects it.
    await tooLate.catch(() => undefined);
  }
}

async function run<T>(check: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { kind: 'value', value: await check() };
  } catch (error) {
    return { kind: 'error', error };
  }
}

/** Changes the error instead of wrapping it, because Jest prints the diff from the original error object. */
function describeTimeout(error: unknown, elapsedMs: number): unknown {
  if (!isErrorLike(error)) return new Error(`Timed out after ${elapsedMs} ms: ${String(error)}`);
  const before = error.message;
  error.message = `Timed out after ${elapsedMs} ms: ${before}`;
  // Jest prints the stack, which contains the old message.
  error.stack = error.stack?.replace(before, () => error.message) ?? error.message;
  return error;
}

/** `instanceof Error` fails under Jest: errors of Node and of `expect` come from another realm. */
function isErrorLike(error: unknown): error is Error {
  return (
    typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'
  );
}
