import { setTimeout as wait } from 'node:timers/promises';

/** Polls until `look` returns a value. Returns undefined after the limit. */
export async function waitFor<T>(
  look: () => Promise<T | undefined> | T | undefined,
  { limitMs, everyMs }: { limitMs: number; everyMs: number },
): Promise<T | undefined> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await look();
    if (value !== undefined || performance.now() > deadline) return value;
    await wait(everyMs);
  }
}

export function say(line: string): void {
  process.stdout.write(`  ${line}\n`);
}
