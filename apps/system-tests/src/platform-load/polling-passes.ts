import type { LookUp } from '../system/platform-tap.js';

/** A polling pass ends when every streamer has been looked up once. */
export interface PollingPass {
  calls: number;
  /** Look-ups of streamers that were already looked up in this pass. */
  repeats: number;
  seconds: number;
}

/** Splits calls into consecutive polling passes. Drops an unfinished last pass. */
export function splitPasses(lookUps: readonly LookUp[], users: ReadonlySet<string>): PollingPass[] {
  const passes: PollingPass[] = [];
  let seen = new Set<string>();
  let current = { calls: 0, repeats: 0, startedAt: 0 };
  for (const { at, userIds } of lookUps) {
    if (current.calls === 0) current.startedAt = at;
    current.calls += 1;
    for (const id of userIds) {
      if (seen.has(id)) current.repeats += 1;
      else if (users.has(id)) seen.add(id);
    }
    if (seen.size < users.size) continue;
    const { calls, repeats, startedAt } = current;
    passes.push({ calls, repeats, seconds: (at - startedAt) / 1_000 });
    seen = new Set();
    current = { calls: 0, repeats: 0, startedAt: 0 };
  }
  return passes;
}

/** Times between consecutive look-ups of the same user, in milliseconds. */
export function measureGaps(lookUps: readonly LookUp[]): number[] {
  const last = new Map<string, number>();
  const gaps: number[] = [];
  for (const { at, userIds } of lookUps) {
    for (const id of userIds) {
      const before = last.get(id);
      if (before !== undefined) gaps.push(at - before);
      last.set(id, at);
    }
  }
  return gaps;
}
