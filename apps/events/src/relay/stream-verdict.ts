import type { StreamState } from './events-stream.js';

/** What the database knows of the stream. */
export interface StreamRecord {
  /** Null: no stream has been seen yet. */
  epoch: string | null;
  /** The highest sequence that is known to have been acknowledged in this epoch. */
  lastSequence: number;
}

/** Why there is a new epoch: the stream is another one, or it does not hold any more what it has acknowledged. */
export type LossReason = 'new' | 'lost_tail';

/** What a check finds; `epoch` is the known one. */
export type Verdict =
  | { kind: 'intact'; epoch: string }
  | { kind: 'unknown' }
  | { kind: 'lost'; reason: LossReason; epoch: string };

/**
 * Compares the stream with what is known of it.
 *
 * ```
 * known epoch │ stream                            │ verdict
 * none        │ there or not                      │ unknown: the first start
 * any         │ not there                         │ lost: new
 * E           │ another epoch, or none            │ lost: new
 * E           │ E, last sequence < acknowledged   │ lost: lost_tail
 * E           │ E, another event at a sequence    │ lost: lost_tail, and others have filled the hole
 * E           │   that was acknowledged for ours  │
 * E           │ E                                 │ intact
 * ```
 *
 * @param isContradicted an acknowledged sequence belongs to another event by now
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
