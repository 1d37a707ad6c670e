/** How an event is sent. A plain POST is not retried once the service may have received it. */
export type EventKind = 'notification' | 'keyed post' | 'plain post' | 'test event';

/** A sent event. */
export interface SentEvent {
  /** Identifies the event; appears once, at the beginning of its data. */
  marker: string;
  kind: EventKind;
  eventType: string;
  /** The data as JSON text. */
  eventData: string;
}

/**
 * The result of one attempt. `stale`: the attempt reused a connection from an earlier request, and the server closed the connection without
 * a response.
 */
export type Answer =
  | { kind: 'accepted'; id: string | undefined }
  | { kind: 'refused' | 'unavailable'; status: number }
  | { kind: 'not connected' | 'broken' | 'stale' | 'timeout' };

/** Accepted: got a 2xx response. Refused: cannot have been stored. In doubt: may have been stored. */
export type Outcome = 'accepted' | 'refused' | 'in doubt';

/** An event and its sender's record of the outcome. */
export class LedgerEntry {
  private acceptance: { id: string | undefined } | undefined;
  private isDoubtful = false;
  acceptedAt = Number.NaN;

  constructor(
    readonly event: SentEvent,
    /** Whether the service may keep the accepted event as a dead letter instead of storing it. */
    readonly canBeDeadLetter = false,
  ) {}

  get outcome(): Outcome {
    if (this.acceptance) return 'accepted';
    return this.isDoubtful ? 'in doubt' : 'refused';
  }

  /** The id in the 201 response. */
  get id(): string | undefined {
    return this.acceptance?.id;
  }

  /** Whether the sender should retry. */
  get isOpen(): boolean {
    return !this.acceptance && !(this.event.kind === 'plain post' && this.isDoubtful);
  }

  note(answer: Answer): void {
    if (answer.kind === 'accepted') {
      this.acceptance = { id: answer.id };
      this.acceptedAt = Date.now();
    } else if (answer.kind !== 'refused' && answer.kind !== 'not connected') {
      // Includes 503, because the event can be stored even if its batch timed out.
      this.isDoubtful = true;
    }
  }
}

/** Returns the number of events per outcome. */
export function countOutcomes(entries: readonly LedgerEntry[]): Record<Outcome, number> {
  const counts: Record<Outcome, number> = { accepted: 0, refused: 0, 'in doubt': 0 };
  for (const { outcome } of entries) counts[outcome] += 1;
  return counts;
}

/** Returns the marker in an event's data. */
export function markerOf(eventData: string): string | undefined {
  return /^\{"marker":"([\w-]+)"/.exec(eventData)?.[1];
}
