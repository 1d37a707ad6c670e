import { setTimeout as wait } from 'node:timers/promises';

/** Waits for some milliseconds; cut short by the signal, which whoever waits looks at next: it is no failure. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
