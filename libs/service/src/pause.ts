import { setTimeout as wait } from 'node:timers/promises';

/** Waits for the given time or until the signal aborts. Never throws, so the caller checks the signal after the pause. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
