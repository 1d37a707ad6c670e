import { isJsonObject, type JsonObject } from '../json-object.js';
import { foldCase, isTextWithin } from '../text.js';

/** What filters ask for, read from an event's data: the store keeps it as columns, live delivery reads it on the way. */
export interface EventColumns {
  broadcasterUserId: string | null;
  userId: string | null;
  userName: string | null;
  rewardId: string | null;
  raidFrom: string | null;
  raidTo: string | null;
}

// A longer value is stored with the event but cannot be filtered by.
const maxCharacters = 255;

const raidTypes = ['raid', 'channel-raid'];

/** Where the acting user may stand, in order; the broadcaster acts only when no other user has a place. */
const actorPlaces: readonly { path: readonly string[]; prefix: string }[] = [
  { path: [], prefix: 'user' },
  { path: [], prefix: 'chatter_user' },
  { path: ['data', 'message'], prefix: 'user' },
  { path: ['message'], prefix: 'user' },
  { path: [], prefix: 'from_broadcaster_user' },
  { path: [], prefix: 'from_user' },
  { path: [], prefix: 'broadcaster_user' },
];

/** Reads the filterable values from the text of an event's data; text that is no JSON object has none. */
export function readEventColumns(eventType: string, eventData: string): EventColumns {
  return pickEventColumns(eventType, parseObject(eventData));
}

/** Reads the filterable values from an event's data. */
export function pickEventColumns(eventType: string, data: JsonObject): EventColumns {
  const isRaid = raidTypes.includes(eventType);
  const actor = findActor(data);
  return {
    broadcasterUserId: filterable(data.broadcaster_user_id),
    userId: folded(actor.id),
    userName: folded(actor.name),
    rewardId: folded(objectAt(data, ['reward'])?.id),
    raidFrom: isRaid ? folded(data.from_broadcaster_user_name) : null,
    raidTo: isRaid ? folded(data.to_broadcaster_user_name) : null,
  };
}

function findActor(data: JsonObject): { id: unknown; name: unknown } {
  for (const { path, prefix } of actorPlaces) {
    const place = objectAt(data, path);
    // A null one exists: an anonymous cheer has no actor, not the broadcaster as its actor.
    const isPresent =
      place && ['id', 'login', 'name'].some((suffix) => Object.hasOwn(place, `${prefix}_${suffix}`));
    if (isPresent) return { id: place[`${prefix}_id`], name: place[`${prefix}_name`] };
  }
  return { id: null, name: null };
}

function objectAt(data: JsonObject, path: readonly string[]): JsonObject | undefined {
  let place = data;
  for (const key of path) {
    const next = Object.hasOwn(place, key) ? place[key] : undefined;
    if (!isJsonObject(next)) return undefined;
    place = next;
  }
  return place;
}

function filterable(value: unknown): string | null {
  return isTextWithin(value, 0, maxCharacters) ? value : null;
}

function folded(value: unknown): string | null {
  const text = filterable(value);
  return text === null ? null : foldCase(text);
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    // Not JSON: the database refuses it, and says so better.
    return {};
  }
}
