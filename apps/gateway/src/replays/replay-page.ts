import {
  eventFilters,
  listEvents,
  type ListPosition,
  type StoredEvent,
  type TextFilterName,
} from '@stream-events/contracts';
import type { RequestClient } from '@stream-events/messaging';
import { NIL } from 'uuid';
import type { Replay } from './replay.entity.js';

/** What comes next of a replay. */
export interface ReplayPage {
  /** Oldest first; perhaps none, although there is a next page. */
  events: StoredEvent[];
  /** The id after which the next page begins; null at the end. */
  next: string | null;
}

const pageSize = 100;

/**
 * Reads the page of a replay that begins after this id, or the first one.
 *
 * @throws ServiceError `unavailable` while the events service is
 */
export async function readReplayPage(
  client: RequestClient,
  replay: Replay,
  after: string | null,
): Promise<ReplayPage> {
  const { since, until } = replay;
  const filters = { ...toEventFilters(replay), since: since.getTime(), until: until.getTime() };
  // The first page begins where `since` says.
  const position: ListPosition =
    after === null
      ? { direction: 'newer', id: NIL, inclusive: true }
      : { direction: 'newer', id: after, inclusive: false };
  const page = await client.request(listEvents, { filters, pageSize, position });
  // Pages are newest first whichever way they lead, and newer ones are before them.
  return { events: page.events.reverse(), next: page.previous?.id ?? null };
}

function toEventFilters({ filters }: Replay): Record<string, string> {
  const entries = Object.entries(filters) as [TextFilterName, string][]; // holds: the body's fields are these
  return Object.fromEntries(entries.map(([parameter, value]) => [eventFilters[parameter].field, value]));
}
