/** How an event reaches the service, and how often: a plain POST is never sent again once it may have arrived. */
export type EventKind = 'notification' | 'keyed post' | 'plain post' | 'test event';

/** An event as it was sent. */
export interface SentEvent {
  /** Stands at the beginning of its data, and nowhere else: by it the event is known again. */
  marker: string;
  kind: EventKind;
  eventType: string;
  /** JSON text. */
  eventData: string;
}

/**
 * What became of one try. `stale`: the connection was kept open from an earlier request, and the server ended it before
 * it answered anything.
 */
export type Answer =
  | { kind: 'accepted'; id: string | undefined }
  | { kind: 'refused' | 'unavailable'; status: number }
  | { kind: 'not connected' | 'broken' | 'stale' | 'timeout' };

/** Accepted: answered 2xx once. Refused: it cannot have been stored. In doubt: it may have been. */
export type Outcome = 'accepted' | 'refused' | 'in doubt';

/** An event with what its sender knows of it. */
export class LedgerEntry {
  private acceptance: { id: string | undefined } | undefined;
  private isDoubtful = false;
  acceptedAt = Number.NaN;

  constructor(
    readonly event: SentEvent,
    /** Whether an accepted one may be kept aside by the service instead of listed. */
    readonly canBeDeadLetter = false,
  ) {}

  get outcome(): Outcome {
    if (this.acceptance) return 'accepted';
    return this.isDoubtful ? 'in doubt' : 'refused';
  }

  /** The id that a 201 told. */
  get id(): string | undefined {
    return this.acceptance?.id;
  }

  /** Whether a further try makes sense for its sender. */
  get isOpen(): boolean {
    return !this.acceptance && !(this.event.kind === 'plain post' && this.isDoubtful);
  }

  note(answer: Answer): void {
    if (answer.kind === 'accepted') {
      this.acceptance = { id: answer.id };
      this.acceptedAt = Date.now();
    } else if (answer.kind !== 'refused' && answer.kind !== 'not connected') {
      // 503 too: an event whose batch was not answered in time may be stored all the same.
      this.isDoubtful = true;
    }
  }
}

/** How many events had which outcome. */
export function countOutcomes(entries: readonly LedgerEntry[]): Record<Outcome, number> {
  const counts: Record<Outcome, number> = { accepted: 0, refused: 0, 'in doubt': 0 };
  for (const { outcome } of entries) counts[outcome] += 1;
  return counts;
}

/** The marker in the data of an event. */
export function markerOf(eventData: string): string | undefined {
  return /^\{"marker":"([\w-]+)"/.exec(eventData)?.[1];
}
