import { isJsonObject } from '@stream-events/contracts';
import type { EventKind, SentEvent } from '../chaos/ledger.js';
import { nextMarker } from '../chaos/fault-load.js';

/** What is in an event that filters of trials look at. */
export interface EventFields {
  origin: string;
  eventType: string;
  broadcasterUserId: string;
  userName: string;
}

/** A filter as a client gives it: parameters of the list, but several types. */
export type FilterParameters = Partial<
  Record<'broadcaster_user_id' | 'user_name' | 'origin', string> & { event_type: string | string[] }
>;

export const filterKinds = ['none', 'event types', 'broadcaster', 'user name', 'origin and type'] as const;
export type FilterKind = (typeof filterKinds)[number];

/** The types of small events. */
export const eventTypes = ['channel-follow', 'channel-raid', 'channel-cheer', 'channel-subscribe'] as const;
const broadcasters = 10;
const users = 50;

/** The type of events that only fill up what there is to fill. */
export const bigEventType = 'trial-big';

// One of ten is a test event, so that origins differ; the others arrive in the three other ways.
const kinds: readonly EventKind[] = [
  'notification',
  'keyed post',
  'notification',
  'plain post',
  'notification',
  'keyed post',
  'test event',
  'notification',
  'keyed post',
  'notification',
];

// With it a record has about 600 bytes, like a notification of the platform.
const padding = 'grüße 🎉 '.repeat(16);

/** The microseconds of a clock that all processes of this machine share. */
export function nowMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** A small event, like no other; every type, broadcaster and user takes its turn. */
export function makeSmallEvent(kind?: EventKind): SentEvent {
  const { marker, sequence } = nextMarker();
  const chosen = kind ?? kinds[sequence % kinds.length] ?? 'notification';
  // Steps coprime to the counts, so that all combinations occur.
  const eventType = eventTypes[Math.floor(sequence / 3) % eventTypes.length] ?? eventTypes[0];
  const user = (sequence * 7) % users;
  return { marker, kind: chosen, eventType, eventData: printData(marker, sequence, user, padding) };
}

/** One of some 64 KiB, of a type of its own. */
export function makeBigEvent(): SentEvent {
  const { marker, sequence } = nextMarker();
  const eventData = printData(marker, sequence, sequence % users, 'x'.repeat(64_000));
  return { marker, kind: 'plain post', eventType: bigEventType, eventData };
}

function printData(marker: string, sequence: number, user: number, message: string): string {
  return JSON.stringify({
    marker,
    sent_us: nowMicroseconds(),
    user_id: String(100_000 + user),
    user_login: `viewer_${user}`,
    user_name: `Viewer_${user}`,
    broadcaster_user_id: String(4_000 + (sequence % broadcasters)),
    message,
  });
}

/** The filter of the client of this number: of each kind as many, with every value in turn. */
export function filterOf(kind: FilterKind, number: number): FilterParameters {
  switch (kind) {
    case 'none':
      return {};
    case 'event types':
      return { event_type: [eventTypes[0], eventTypes[1 + (number % 3)] ?? eventTypes[1]] };
    case 'broadcaster':
      return { broadcaster_user_id: String(4_000 + (number % broadcasters)) };
    case 'user name':
      // In another case than the events have it.
      return { user_name: `vIEWER_${number % users}` };
    case 'origin and type':
      return { origin: number % 2 === 0 ? 'platform' : 'test', event_type: eventTypes[number % 4] ?? 'none' };
  }
}

/** Whether an event passes a filter: told apart from the service's own code, which is on trial. */
export function passes(filter: FilterParameters, fields: EventFields): boolean {
  const types = filter.event_type === undefined ? [fields.eventType] : [filter.event_type].flat();
  return (
    types.includes(fields.eventType) &&
    (filter.broadcaster_user_id ?? fields.broadcasterUserId) === fields.broadcasterUserId &&
    (filter.user_name ?? fields.userName).toLowerCase() === fields.userName.toLowerCase() &&
    (filter.origin ?? fields.origin) === fields.origin
  );
}

/** Reads the number of an event and what filters look at from its record. */
export function readRecord(text: string): EventFields & { event: number } {
  const record: unknown = JSON.parse(text);
  const { origin, event_type, event_data } = isJsonObject(record) ? record : {};
  const { marker, broadcaster_user_id, user_name } = isJsonObject(event_data) ? event_data : {};
  return {
    event: Number(String(marker).split('-')[1]),
    origin: String(origin),
    eventType: String(event_type),
    broadcasterUserId: String(broadcaster_user_id),
    userName: String(user_name),
  };
}
