import type { StreamState } from './events-stream.js';

/** The database's record of the stream. */
export interface StreamRecord {
  /** Null before the first stream exists. */
  epoch: string | null;
  /** The highest sequence that the stream has acknowledged in this epoch, as far as the database knows. */
  lastSequence: number;
}

/** Why the stream needs a new epoch: it is a different stream, or it has lost acknowledged events. */
export type LossReason = 'new' | 'lost_tail';

/** `epoch` is the recorded epoch. */
export type Verdict =
  | { kind: 'intact'; epoch: string }
  | { kind: 'unknown' }
  | { kind: 'lost'; reason: LossReason; epoch: string };

/**
 * Compares the stream with the database's record.
 *
 * ```
 * known epoch │ stream                            │ verdict
 * none        │ exists or not                     │ unknown: the first start
 * E           │ does not exist                    │ lost: new
 * E           │ another epoch, or none            │ lost: new
 * E           │ E, last sequence < acknowledged   │ lost: lost_tail
 * E           │ E, another event at an            │ lost: lost_tail, and later events have taken
 *             │   acknowledged sequence           │   the sequences of the lost ones
 * E           │ E                                 │ intact
 * ```
 *
 * @param isContradicted whether an acknowledged sequence now belongs to another event
 */
export function judgeStream(
  record: StreamRecord,
  found: StreamState | undefined,
  isContradicted: boolean,
): Verdict {
  const { epoch } = record;
  if (epoch === null) return { kind: 'unknown' };
  if (found?.epoch !== epoch) return { kind: 'lost', reason: 'new', epoch };
  if (isContradicted || found.lastSequence < record.lastSequence)
    return { kind: 'lost', reason: 'lost_tail', epoch };
  return { kind: 'intact', epoch };
}
