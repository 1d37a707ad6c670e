import type { EventRecord } from '@stream-events/client';
import { parseTime } from '../kit/parse-time.js';
import { shareOf, type TimeRange } from './stream-times.js';

export const markerKinds = ['raid', 'subscription', 'hype train'] as const;
export type MarkerKind = (typeof markerKinds)[number];

/** A mark: one event, or several events of one kind that are too close to each other for separate marks, oldest first. */
export interface Marker extends TimeRange {
  kind: MarkerKind;
  events: readonly EventRecord[];
}

const kindByType: Readonly<Record<string, MarkerKind>> = {
  raid: 'raid',
  'channel-raid': 'raid',
  'channel-subscribe': 'subscription',
  'channel-subscription-gift': 'subscription',
  'channel-subscription-message': 'subscription',
  'channel-hype_train-begin': 'hype train',
  'channel-hype_train-end': 'hype train',
};

/** The types of the events that a stream's chart marks. */
export const markedTypes = Object.keys(kindByType);

/** The time at which the service received an event. */
export function timeOf({ created }: Pick<EventRecord, 'created'>): number {
  return parseTime(created).getTime();
}

/**
 * Divides the range into slots of equal length. Returns one mark for all events of the same kind in a slot, with the events oldest first.
 */
export function groupMarkers(events: readonly EventRecord[], range: TimeRange, slots: number): Marker[] {
  const groups = new Map<string, { kind: MarkerKind; events: EventRecord[] }>();
  for (const event of events.toReversed()) {
    const kind = kindByType[event.event_type];
    if (!kind || isPartOfGift(event)) continue;
    const slot = Math.floor(shareOf(timeOf(event), range) * slots);
    const key = `${kind} ${slot}`;
    const group = groups.get(key) ?? { kind, events: [] };
    group.events.push(event);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ kind, events: grouped }) => {
    const times = grouped.map(timeOf);
    return { kind, events: grouped, start: Math.min(...times), end: Math.max(...times) };
  });
}

/**
 * Whether an event is a single subscription from a gift. Such events get no mark, because the event about the gift contains the number of
 * subscriptions.
 */
function isPartOfGift({ event_type, event_data }: EventRecord): boolean {
  const data: Readonly<Record<string, unknown>> = event_data;
  return event_type === 'channel-subscribe' && data.is_gift === true;
}
