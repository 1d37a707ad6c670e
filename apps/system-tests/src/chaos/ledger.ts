/** How an event is sent. A plain POST has no key, so it is not retried once the service may have received it. */
export type EventKind = 'notification' | 'keyed post' | 'plain post' | 'test event';

export interface SentEvent {
  /** Identifies the event. Appears once, at the start of the data. */
  marker: string;
  kind: EventKind;
  eventType: string;
  /** JSON text. */
  eventData: string;
}

/** Result of one attempt. `stale` means that the server closed a reused connection without a response. */
export type Answer =
  | { kind: 'accepted'; id: string | undefined }
  | { kind: 'refused' | 'unavailable'; status: number }
  | { kind: 'not connected' | 'broken' | 'stale' | 'timeout' };

/** accepted: got a 2xx response. refused: certainly not stored. in doubt: possibly stored. */
export type Outcome = 'accepted' | 'refused' | 'in doubt';

/** An event, and what its sender knows about the outcome. */
export class LedgerEntry {
  private acceptance: { id: string | undefined } | undefined;
  private isDoubtful = false;
  acceptedAt = Number.NaN;

  constructor(
    readonly event: SentEvent,
    /** Whether the service may keep the event as a dead letter instead of storing it. */
    readonly canBeDeadLetter = false,
  ) {}

  get outcome(): Outcome {
    if (this.acceptance) return 'accepted';
    return this.isDoubtful ? 'in doubt' : 'refused';
  }

  /** Id from the 201 response. */
  get id(): string | undefined {
    return this.acceptance?.id;
  }

  /** Whether the sender should try again. */
  get isOpen(): boolean {
    return !this.acceptance && !(this.event.kind === 'plain post' && this.isDoubtful);
  }

  note(answer: Answer): void {
    if (answer.kind === 'accepted') {
      this.acceptance = { id: answer.id };
      this.acceptedAt = Date.now();
    } else if (answer.kind !== 'refused' && answer.kind !== 'not connected') {
      // A 503 also leaves doubt: the event can be stored even if its batch timed out.
      this.isDoubtful = true;
    }
  }
}

export function countOutcomes(entries: readonly LedgerEntry[]): Record<Outcome, number> {
  const counts: Record<Outcome, number> = { accepted: 0, refused: 0, 'in doubt': 0 };
  for (const { outcome } of entries) counts[outcome] += 1;
  return counts;
}

/** Extracts the marker from an event's data. */
export function markerOf(eventData: string): string | undefined {
  return /^\{"marker":"([\w-]+)"/.exec(eventData)?.[1];
}
