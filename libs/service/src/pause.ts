import { setTimeout as wait } from 'node:timers/promises';

/** Waits for the given time or until the signal aborts. Never throws, so check the signal afterwards. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
