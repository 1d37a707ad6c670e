import { setTimeout as wait } from 'node:timers/promises';

/** Looks again and again until there is a value; undefined when there was none in time. */
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

/** Tells whoever watches how far it is. */
export function say(line: string): void {
  process.stdout.write(`  ${line}\n`);
}
