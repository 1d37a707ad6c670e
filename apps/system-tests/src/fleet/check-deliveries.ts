import type { GapReason } from './delivery-log.js';

export type Observation =
  | { kind: 'connected' }
  /** The position contains the epoch, the sequence, and `check`: the last 32 bits of the event's id. */
  | { kind: 'event'; epoch: string; sequence: number; event: number; check: number }
  /** A position without an event. */
  | { kind: 'position'; epoch: string; sequence: number }
  | { kind: 'gap'; reason: GapReason };

/** An event on the stream that passes the client's filter. */
export interface WantedEvent {
  sequence: number;
  event: number;
  check: number;
  /**
   * The event was on the stream in an earlier epoch, and was published again after the stream was recreated. A gateway that has already
   * delivered it does not deliver it again.
   */
  isRepeated?: boolean;
}

/** What a client must have received. */
export interface Expectation {
  /**
   * The epochs of the stream, in order. Each has the events that pass the client's filter, in order and without duplicates. The last epoch
   * is complete. A lost epoch has only the events that the test read before the loss.
   */
  epochs: readonly { epoch: string; events: readonly WantedEvent[] }[];
  /** The client's filter. */
  passes(event: number): boolean;
}

/** A difference between what a client received and what it must have received. */
export interface DeliveryFinding {
  kind: 'missing' | 'doubled' | 'reordered' | 'foreign' | 'misplaced' | 'unexplained gap' | 'silent hole';
  what: string;
}

interface Place {
  epoch: string;
  sequence: number;
}

/**
 * Checks what one client received. Between the client's first position and the end of the stream, it must get every event that passes its
 * filter, once and in order. A gap is allowed only at the end of an epoch.
 */
export function checkDeliveries(seen: Iterable<Observation>, expectation: Expectation): DeliveryFinding[] {
  return new DeliveryChecker(expectation).check(seen);
}

class DeliveryChecker {
  private readonly findings: DeliveryFinding[] = [];
  private readonly events: ReadonlyMap<string, readonly WantedEvent[]>;
  private readonly lastEpoch: string;
  /** The client has received everything up to this position. Undefined before the first position and after a gap. */
  private at: Place | undefined;
  /** Position before the last gap. */
  private before: Place | undefined;
  /** Number of wanted events of the current epoch up to `at`. */
  private index = 0;
  private readonly onConnection = new Set<number>();
  private readonly sinceGap = new Set<number>();

  constructor(private readonly expectation: Expectation) {
    const { epochs } = expectation;
    this.events = new Map(epochs.map(({ epoch, events }) => [epoch, events]));
    this.lastEpoch = epochs.at(-1)?.epoch ?? '';
  }

  check(seen: Iterable<Observation>): DeliveryFinding[] {
    for (const observation of seen) {
      if (observation.kind === 'connected') this.onConnection.clear();
      else if (observation.kind === 'gap') this.onGap(observation.reason);
      else if (observation.kind === 'position') this.moveTo(observation);
      else this.onEvent(observation);
    }
    this.checkEnd();
    return this.findings;
  }

  private onEvent({ epoch, sequence, event, check }: Observation & { kind: 'event' }): void {
    const what = `event ${event} at ${epoch}-${sequence}`;
    if (this.onConnection.has(event) || this.sinceGap.has(event)) this.find('doubled', what);
    this.onConnection.add(event);
    this.sinceGap.add(event);
    if (this.at?.epoch === epoch && sequence <= this.at.sequence) {
      this.find('reordered', `${what}, after ${this.at.sequence}`);
      return;
    }
    // First check that no earlier wanted event is missing, then that this event is the next wanted one.
    this.moveTo({ epoch, sequence: sequence - 1 });
    this.at = { epoch, sequence };
    const wanted = this.events.get(epoch)?.[this.index];
    const isWanted = wanted?.sequence === sequence;
    if (isWanted) this.index += 1;
    const isRight = isWanted ? wanted.event === event && wanted.check === check : epoch !== this.lastEpoch;
    if (!this.expectation.passes(event)) this.find('foreign', what);
    else if (!isRight) this.find('misplaced', what);
  }

  private onGap(reason: GapReason): void {
    // The last epoch's events are all on the stream, so the gateway has no reason to report a gap there.
    const epoch = (this.at ?? this.before)?.epoch;
    const isExplained = epoch === undefined ? this.events.size > 1 : epoch !== this.lastEpoch;
    if (!isExplained) this.find('unexplained gap', `${reason} after ${describe(this.at ?? this.before)}`);
    this.before = this.at ?? this.before;
    this.at = undefined;
    this.sinceGap.clear();
  }

  /** Moves to a position. The client must have received every wanted event up to there. */
  private moveTo(place: Place): void {
    const { epoch, sequence } = place;
    const events = this.events.get(epoch) ?? [];
    if (this.at && this.at.epoch !== epoch) {
      this.find('silent hole', `${describe(this.at)} to ${describe(place)}`);
      this.at = undefined;
    }
    if (!this.at) {
      this.index = events.findIndex((event) => event.sequence > sequence);
      if (this.index < 0) this.index = events.length;
      this.at = { epoch, sequence };
      return;
    }
    if (sequence < this.at.sequence) {
      this.find('reordered', `position ${describe(place)}, after ${this.at.sequence}`);
      return;
    }
    for (let next = events[this.index]; next && next.sequence <= sequence; next = events[this.index]) {
      if (!next.isRepeated) this.find('missing', `event ${next.event} at ${epoch}-${next.sequence}`);
      this.index += 1;
    }
    this.at = { epoch, sequence };
  }

  private checkEnd(): void {
    const last = this.events.get(this.lastEpoch)?.findLast(({ isRepeated }) => !isRepeated);
    if (!this.at) {
      // Nothing arrived after the gap.
      if (last) this.find('missing', 'no position since the start or the last gap');
    } else if (this.at.epoch !== this.lastEpoch) this.find('silent hole', `${describe(this.at)} to the end`);
    else if (last && last.sequence > this.at.sequence)
      this.moveTo({ epoch: this.lastEpoch, sequence: last.sequence });
  }

  private find(kind: DeliveryFinding['kind'], what: string): void {
    this.findings.push({ kind, what });
  }
}

function describe(place: Place | undefined): string {
  return place ? `${place.epoch}-${place.sequence}` : 'no position';
}
