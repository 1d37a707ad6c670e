import { Injectable } from '@nestjs/common';
import type { LiveEvent } from './live-event.js';

/** What comes next on the stream from a sequence on. */
export type HistoryPage =
  | {
      kind: 'events';
      /** In order; perhaps none. */
      events: readonly LiveEvent[];
      /** Where to read on. */
      next: number;
    }
  /** It has left the stream, which begins here now. */
  | { kind: 'expired'; firstSequence: number }
  /** The stream is of another epoch by now. */
  | { kind: 'other_epoch' };

/** Reads what is older than the ring, with few consumers for any number of clients. */
@Injectable()
export class EventHistory {
  /**
   * Events from `from` on, a page of a hundred or so; never beyond `until`, which the stream is known to have.
   *
   * @throws when the broker does not answer, or the signal's reason
   */
  read(_place: { epoch: string; from: number; until: number }, _signal: AbortSignal): Promise<HistoryPage> {
    throw new Error('not built yet');
  }
}
