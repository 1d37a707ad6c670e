import type { AuditEntry } from './audit-entry.entity.js';

// Above this number of different entries, further entries are not folded. They take about 5 MiB.
const maxDifferent = 10_000;

/** Folds equal entries of a user, so that a user who repeats an action cannot fill the log. The first one is written immediately. */
export class RepeatedEntries {
  private readonly seen = new Map<string, { entry: AuditEntry; repeats: number }>();

  /** Whether the entry equals one since the last `takeAll`. If so, counts it. */
  fold(entry: AuditEntry): boolean {
    const found = this.seen.get(keyOf(entry));
    if (found) found.repeats += 1;
    return found !== undefined;
  }

  /** Call it for an entry that is written. Later equal entries then fold. */
  remember(entry: AuditEntry): void {
    if (entry.userId !== null && this.seen.size < maxDifferent)
      this.seen.set(keyOf(entry), { entry, repeats: 0 });
  }

  /** Returns one entry without an id for each entry that was repeated, and starts over. */
  takeAll(): Omit<AuditEntry, 'id'>[] {
    const repeated = [...this.seen.values()].filter(({ repeats }) => repeats > 0);
    this.seen.clear();
    return repeated.map(({ entry, repeats }) => ({ ...entry, count: repeats }));
  }
}

function keyOf({ action, userId, objectId, address }: AuditEntry): string {
  return JSON.stringify([action, userId, objectId, address]);
}
