import {
  listEvents,
  parseTextFilter,
  type EventFilters,
  type ListPosition,
  type StoredEvent,
  type TextFilterName,
} from '@stream-events/contracts';
import type { RequestClient } from '@stream-events/messaging';
import { NIL } from 'uuid';
import type { Replay } from './replay.entity.js';

/** The events to replay. */
export type ReplayedRange = Pick<Replay, 'filters' | 'since' | 'until'>;

export interface ReplayPage {
  /** Oldest first. A page can be empty even if another page follows. */
  events: StoredEvent[];
  /** The event id after which the next page begins. Null on the last page. */
  next: string | null;
}

const pageSize = 100;

/**
 * Reads the page of a range that begins after the event id `after`, or the first page if `after` is null.
 *
 * @throws ServiceError `unavailable` while the events service is unavailable
 */
export async function readReplayPage(
  client: RequestClient,
  range: ReplayedRange,
  after: string | null,
): Promise<ReplayPage> {
  const { since, until } = range;
  const filters = { ...toEventFilters(range), since: since.getTime(), until: until.getTime() };
  // The first page begins at `since`.
  const position: ListPosition =
    after === null
      ? { direction: 'newer', id: NIL, inclusive: true }
      : { direction: 'newer', id: after, inclusive: false };
  const page = await client.request(listEvents, { filters, limits: {}, pageSize, position });
  // The events service sorts every page newest first, so its `previous` position leads to the next events of a replay.
  return { events: page.events.reverse(), next: page.previous?.id ?? null };
}

function toEventFilters({ filters }: ReplayedRange): EventFilters {
  const entries = Object.entries(filters) as [TextFilterName, string][]; // Safe cast: the body has only these fields.
  const parsed = entries.map(([name, text]) => parseTextFilter(name, text));
  return Object.assign({}, ...parsed) as EventFilters; // Safe cast: every part is one.
}
