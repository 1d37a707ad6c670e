import type { EventRecord } from '@stream-events/client';
import { parseTime } from '../kit/parse-time.js';
import { shareOf, type TimeRange } from './stream-times.js';

export const markerKinds = ['raid', 'subscription', 'hype train'] as const;
export type MarkerKind = (typeof markerKinds)[number];

/** A mark on the chart: one event, or several events of one kind that are too close for separate marks. Oldest first. */
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

/** Event types that get a mark on the chart. */
export const markedTypes = Object.keys(kindByType);

/** Returns when the service received the event. */
export function timeOf({ created }: Pick<EventRecord, 'created'>): number {
  return parseTime(created).getTime();
}

/** Divides the range into equal slots. All events of one kind in a slot share a mark. */
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

/** Whether this subscription is part of a gift. It gets no mark, because the gift's own event contains the number of subscriptions. */
function isPartOfGift({ event_type, event_data }: EventRecord): boolean {
  const data: Readonly<Record<string, unknown>> = event_data;
  return event_type === 'channel-subscribe' && data.is_gift === true;
}
