import type { StreamState } from './events-stream.js';

/** The database's record of the stream. */
export interface StreamRecord {
  /** Null until the first stream. */
  epoch: string | null;
  /** The highest sequence that the stream is known to have acknowledged in this epoch. */
  lastSequence: number;
}

/** The reason for a new epoch: the stream is a different one, or it has lost acknowledged events. */
export type LossReason = 'new' | 'lost_tail';

/** The result of a check. `epoch` is the epoch in the database's record. */
export type Verdict =
  | { kind: 'intact'; epoch: string }
  | { kind: 'unknown' }
  | { kind: 'lost'; reason: LossReason; epoch: string };

/**
 * Compares the stream with the database's record of the stream.
 *
 * ```
 * known epoch │ stream                            │ verdict
 * none        │ exists or not                     │ unknown: the first start
 * any         │ does not exist                    │ lost: new
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
