import { isJsonObject, type JsonObject } from '../json-object.js';
import { parseJson } from '../parse-json.js';
import { foldCase, isTextWithin } from '../text.js';
import { derivedFilters, type DerivedFilter, type EventColumns } from './event-filters.js';

// A longer value is stored with the event, but filters do not match it.
const maxCharacters = 255;

/** The keys that can hold the acting user, in order. The broadcaster is the actor only when no other user is named. */
const actorPlaces: readonly { path: readonly string[]; prefix: string }[] = [
  { path: [], prefix: 'user' },
  { path: [], prefix: 'chatter_user' },
  { path: ['data', 'message'], prefix: 'user' },
  { path: ['message'], prefix: 'user' },
  { path: [], prefix: 'from_broadcaster_user' },
  { path: [], prefix: 'from_user' },
  { path: [], prefix: 'broadcaster_user' },
];

interface Actor {
  id: unknown;
  name: unknown;
}

type ReadColumn = (eventType: string, data: JsonObject, actor: Actor) => string | null;

const columns = derivedFilters.map((filter) => ({ field: filter.field, read: compileReader(filter) }));

/** Reads the filterable values from the text of an event's data. Text that is not a JSON object has no such values. */
export function readEventColumns(eventType: string, eventData: string): EventColumns {
  return pickEventColumns(eventType, parseObject(eventData));
}

/** Reads the filterable values from an event's data. The store keeps them as columns, live delivery compares them. */
export function pickEventColumns(eventType: string, data: JsonObject): EventColumns {
  const actor = findActor(data);
  const values: Partial<EventColumns> = {};
  for (const { field, read } of columns) values[field] = read(eventType, data, actor);
  return values as EventColumns; // Safe cast: every column has a reader.
}

function compileReader({ source, match }: DerivedFilter): ReadColumn {
  const print = match === 'folded' ? folded : filterable;
  if ('actor' in source) {
    const { actor: key } = source;
    return (_eventType, _data, actor) => print(actor[key]);
  }
  const { path, types } = source;
  const place = path.slice(0, -1);
  const key = path.at(-1) ?? '';
  return (eventType, data) => {
    if (types && !types.includes(eventType)) return null;
    const object = objectAt(data, place);
    return object && Object.hasOwn(object, key) ? print(object[key]) : null;
  };
}

function findActor(data: JsonObject): Actor {
  for (const { path, prefix } of actorPlaces) {
    const place = objectAt(data, path);
    // A null value counts as present: an anonymous cheer has no actor, and the broadcaster is not its actor.
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
    const value = parseJson(text);
    return isJsonObject(value) ? value : {};
  } catch {
    // Ignore text that is not JSON: the database rejects the event with a better message.
    return {};
  }
}
