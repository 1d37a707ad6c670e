import type { Look } from '../system/platform-tap.js';

/** From a call until everybody has been looked at once. */
export interface Sweep {
  calls: number;
  /** Looks at somebody who had been looked at in this sweep already. */
  repeats: number;
  seconds: number;
}

/** Cuts the calls into sweeps, one after the other; what is left at the end is none. */
export function splitSweeps(looks: readonly Look[], users: ReadonlySet<string>): Sweep[] {
  const sweeps: Sweep[] = [];
  let seen = new Set<string>();
  let current = { calls: 0, repeats: 0, startedAt: 0 };
  for (const { at, userIds } of looks) {
    if (current.calls === 0) current.startedAt = at;
    current.calls += 1;
    for (const id of userIds) {
      if (seen.has(id)) current.repeats += 1;
      else if (users.has(id)) seen.add(id);
    }
    if (seen.size < users.size) continue;
    const { calls, repeats, startedAt } = current;
    sweeps.push({ calls, repeats, seconds: (at - startedAt) / 1_000 });
    seen = new Set();
    current = { calls: 0, repeats: 0, startedAt: 0 };
  }
  return sweeps;
}

/** Milliseconds between two looks at the same user, of all of them. */
export function measureGaps(looks: readonly Look[]): number[] {
  const last = new Map<string, number>();
  const gaps: number[] = [];
  for (const { at, userIds } of looks) {
    for (const id of userIds) {
      const before = last.get(id);
      if (before !== undefined) gaps.push(at - before);
      last.set(id, at);
    }
  }
  return gaps;
}
