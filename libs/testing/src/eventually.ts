import { setTimeout as wait } from 'node:timers/promises';

/** How long and how often `eventually` runs its check. */
export interface EventuallyOptions {
  /** Default: 40 s. An operation takes a second on an idle machine, and can take 20 s on a busy one. */
  timeoutMs?: number;
  /** The pause between two checks. Default: a tenth of the time since the start, at least 20 ms and at most 500 ms. */
  intervalMs?: number;
}

// A check costs requests and, when it fails, the diff that Jest computes. When many tests check often, they slow down each other and the
// services that they wait for.
const pauses = { share: 0.1, min: 20, max: 500 };

/**
 * Waits for a condition; use this instead of a sleep. Runs `check` until it does not throw, and returns its value. After the timeout, even
 * when `check` never settles, throws the last error with the elapsed time before the message.
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
    // Waits no longer than the remaining time, so that the last check runs at the timeout.
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
    // The abort rejects `tooLate`, unless that wait has already ended.
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

/** Changes the error itself, so that Jest still shows the difference between expected and received. */
function describeTimeout(error: unknown, elapsedMs: number): unknown {
  if (!isErrorLike(error)) return new Error(`Timed out after ${elapsedMs} ms: ${String(error)}`);
  const before = error.message;
  error.message = `Timed out after ${elapsedMs} ms: ${before}`;
  // Jest prints the stack, which still has the old message.
  error.stack = error.stack?.replace(before, () => error.message) ?? error.message;
  return error;
}

/** Does not use `instanceof Error`: under Jest, the errors of Node and of `expect` come from another realm. */
function isErrorLike(error: unknown): error is Error {
  return (
    typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'
  );
}
