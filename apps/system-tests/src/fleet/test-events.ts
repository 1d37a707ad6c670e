import { randomBytes } from 'node:crypto';
import { isJsonObject } from '@stream-events/contracts';
import type { EventKind, SentEvent } from '../chaos/ledger.js';

/** The event fields that the tests' filters use. */
export interface EventFields {
  origin: string;
  eventType: string;
  broadcasterUserId: string;
  userName: string;
}

/** Same parameters as the event list, but `event_type` can be a list. */
export type FilterParameters = Partial<
  Record<'broadcaster_user_id' | 'user_name' | 'origin', string> & { event_type: string | string[] }
>;

export const filterKinds = ['none', 'event types', 'broadcaster', 'user name', 'origin and type'] as const;

export const eventTypes = ['channel-follow', 'channel-raid', 'channel-cheer', 'channel-subscribe'] as const;
const broadcasters = 10;
const users = 50;

/** Type of events that only fill buffers. */
export const bigEventType = 'big-event';

// Half of the events are platform messages. Most of the others come from clients that retry. One in ten comes from a client that does not,
// and one is a test event, so that filters by origin have matches.
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

// Brings a record to about 600 bytes, like a platform notification.
const padding = 'grüße 🎉 '.repeat(16);

/** Makes markers unique across runs. */
const run = randomBytes(4).toString('hex');
let lastSequence = 0;

export function nextMarker(): { marker: string; sequence: number } {
  lastSequence += 1;
  return { marker: `${run}-${lastSequence}`, sequence: lastSequence };
}

/** Microseconds of a clock that all processes of this machine share. */
export function nowMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** Rotates types, broadcasters, and users. */
export function makeSmallEvent(kind?: EventKind): SentEvent {
  const { marker, sequence } = nextMarker();
  const chosen = kind ?? kinds[sequence % kinds.length] ?? 'notification';
  // Divide by 3, so that every type occurs with every kind, broadcaster, and user.
  const eventType = eventTypes[Math.floor(sequence / 3) % eventTypes.length] ?? eventTypes[0];
  const user = (sequence * 7) % users;
  return { marker, kind: chosen, eventType, eventData: printData(marker, sequence, user, padding) };
}

/** About 64 kB, with a type that no small event has. */
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

/** Filter of a client. Rotates the kinds, and the values within each kind. */
export function filterOf(client: number): FilterParameters {
  const number = Math.floor(client / filterKinds.length);
  switch (filterKinds[client % filterKinds.length] ?? 'none') {
    case 'none':
      return {};
    case 'event types':
      return { event_type: [eventTypes[0], eventTypes[1 + (number % 3)] ?? eventTypes[1]] };
    case 'broadcaster':
      return { broadcaster_user_id: String(4_000 + (number % broadcasters)) };
    case 'user name':
      // The events have this name in another letter case.
      return { user_name: `vIEWER_${number % users}` };
    case 'origin and type':
      return { origin: number % 2 === 0 ? 'platform' : 'test', event_type: eventTypes[number % 4] ?? 'none' };
  }
}

/** Does not use the service's filter code, because that code is under test. */
export function passes(filter: FilterParameters, fields: EventFields): boolean {
  const types = filter.event_type === undefined ? [fields.eventType] : [filter.event_type].flat();
  return (
    types.includes(fields.eventType) &&
    (filter.broadcaster_user_id ?? fields.broadcasterUserId) === fields.broadcasterUserId &&
    (filter.user_name ?? fields.userName).toLowerCase() === fields.userName.toLowerCase() &&
    (filter.origin ?? fields.origin) === fields.origin
  );
}

/** Reads an event's number and filter fields from its record. */
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
