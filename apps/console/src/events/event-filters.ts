import type { LiveFilters } from '@stream-events/client';

/** Filter names, shared by the API and the page's URL. */
export const filterNames = [
  'event_types',
  'event_type',
  'user_name',
  'user_id',
  'channel_id',
  'broadcaster_user_id',
  'reward_id',
  'raid_from',
  'raid_to',
  'origin',
  'event_source',
  'event_id',
  'since',
  'until',
] as const satisfies readonly (keyof LiveFilters)[];

export type FilterName = (typeof filterNames)[number];
export type EventFilters = Partial<Record<FilterName, string>>;

/** The page's URL contains the filters and the id of the inspected event. */
export type EventSearch = EventFilters & { event?: string };

export function parseEventSearch(search: Record<string, unknown>): EventSearch {
  const names = [...filterNames, 'event'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
}

export function filtersOf({ event: _event, ...filters }: EventSearch): EventFilters {
  return filters;
}
