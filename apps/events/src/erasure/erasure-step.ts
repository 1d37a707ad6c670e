import type { ErasedKind, ErasureCounts, ErasureStage } from '@stream-events/contracts';
import { findNamedUsers } from '@stream-events/contracts';
import type { EntityManager } from 'typeorm';
import type { RunningErasure } from './erasures.repository.js';

/** The result of one piece of a stage's work. */
export interface ErasureStep {
  isComplete: boolean;
  /** Where the stage continues, as JSON. */
  position?: unknown;
  /** The progress of the stage, from 0 to 1. */
  progress?: number;
  /** The counts of the erasure so far, including this piece of work. */
  counts?: ErasureCounts;
  /** How long to wait before the next piece, in milliseconds. */
  pauseMs?: number;
  /** Changes the store in the transaction that records this piece of work. */
  apply?: (transaction: EntityManager) => Promise<void>;
}

/** A stage of an erasure. Each call to `run` does one small piece of work, which can be repeated after a crash. */
export interface Stage {
  readonly name: Exclude<ErasureStage, 'done'>;
  run(erasure: RunningErasure, user: SoughtUser): Promise<ErasureStep>;
}

export interface SoughtUser {
  /** Null when only the hash of the id is known. */
  id: string | null;
  isUser(id: string): boolean;
}

/** Returns the fields of an event's data that name the user, each once. */
export function fieldsNaming(user: SoughtUser, eventData: string): string[] {
  const named = findNamedUsers(eventData).filter(({ id }) => user.isUser(id));
  return [...new Set(named.map(({ field }) => field))];
}

// Maximum number of field names to count separately. The rest share one counter. Clients choose the keys in the events that they add, so
// the number of names is unlimited.
const maxFields = 200;
const otherFields = '(other fields)';

/** Adds records to the counts. @param found the fields of each record that name the user */
export function addCounts(
  counts: ErasureCounts,
  kind: ErasedKind,
  found: readonly (readonly string[])[],
): ErasureCounts {
  if (found.length === 0) return counts;
  const known = new Map(Object.entries(counts[kind]?.fields ?? {}));
  for (const fields of found)
    for (const field of fields) {
      const name = known.has(field) || known.size < maxFields ? field : otherFields;
      known.set(name, (known.get(name) ?? 0) + 1);
    }
  const total = (counts[kind]?.total ?? 0) + found.length;
  return { ...counts, [kind]: { total, fields: Object.fromEntries(known) } };
}
