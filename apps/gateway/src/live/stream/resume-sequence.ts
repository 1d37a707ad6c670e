import { checkOfStart, parsePosition, positionOf } from './position.js';
import type { EventFeed } from './event-feed.service.js';
import type { EventHistory } from './event-history.service.js';
import type { LiveEvent } from './live-event.js';
import type { GapReason } from '../gap-reasons.js';

/** The sources of events for a connection: the live feed, and the history with older events. */
export interface EventReaders {
  feed: Pick<EventFeed, 'ringBuffer' | 'head' | 'nextSequence' | 'untilCurrent'>;
  history: Pick<EventHistory, 'read'>;
}

/**
 * Returns the sequence at which a client resumes after its last position, or the reason why the client cannot resume.
 *
 * ```
 * position                                             │ result
 * not valid; beyond the end; the check does not match  │ unknown_position
 * from another epoch                                   │ other_epoch
 * the events after it have left the stream             │ expired, unless they were erased
 * otherwise                                            │ its sequence + 1
 * ```
 *
 * @throws if NATS does not respond; the signal's reason when the signal aborts
 */
export async function findResumeSequence(
  after: string,
  { feed, history }: EventReaders,
  signal: AbortSignal,
): Promise<number | GapReason> {
  const position = parsePosition(after);
  if (!position) return 'unknown_position';
  // The client may have received events from another gateway that this gateway has not read yet.
  await feed.untilCurrent(signal);
  const { ringBuffer, nextSequence } = feed;
  const { epoch, sequence, check } = position;
  if (epoch !== ringBuffer?.epoch) return 'other_epoch';
  if (sequence >= nextSequence) return 'unknown_position';
  if (sequence === 0) return check === checkOfStart ? 1 : 'unknown_position';
  const known = ringBuffer.at(sequence);
  if (known) return isCheckOf(known, check) ? sequence + 1 : 'unknown_position';
  const page = await history.read({ epoch, from: sequence, until: sequence }, signal);
  if (page.kind === 'other_epoch') return 'other_epoch';
  if (page.kind === 'expired') {
    if (page.firstSequence === sequence + 1) return sequence + 1;
    // The event at the position has expired. The client missed nothing if all events between it and the start of the stream were erased.
    const following = await history.read({ epoch, from: sequence + 1, until: sequence + 1 }, signal);
    return following.kind === 'events' ? sequence + 1 : following.kind;
  }
  const [found] = page.events;
  const isContradicted = found?.sequence === sequence && !isCheckOf(found, check);
  return isContradicted ? 'unknown_position' : sequence + 1;
}

/** Whether a position with this check can be the position of the event. A gateway that has not read any event yet sends `checkOfStart`. */
function isCheckOf(event: LiveEvent, check: string): boolean {
  return check === checkOfStart || positionOf(event).check === check;
}
