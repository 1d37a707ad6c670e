import { isJsonObject, type JsonObject } from '../json-object.js';
import { parseJson } from '../parse-json.js';
import { foldCase, isTextWithin } from '../text.js';
import {
  derivedColumns,
  type DerivedColumn,
  type EventColumns,
  type EventDataSource,
} from './filter-columns.js';
import { identityKeys } from './identity-keys.js';

// Longer values are stored with the event, but filters do not match them.
const maxCharacters = 255;

// Increase this number when the derived value of any column changes. Services of two versions can run side by side, and one must not use
// values that the other derived by different rules.
const rulesVersion = 2;

/** Identifies the derived columns and the rules for their values. */
export const columnRules = [rulesVersion, ...derivedColumns.map(({ name }) => name)].join(' ');

/**
 * Keys that can hold the acting user, in order of precedence. The channel is the actor only if all other keys are missing. The channel of a
 * subscription's condition is never the actor.
 */
const actorPlaces = [
  ...identityKeys.actor,
  ...identityKeys.channel.filter(({ path }) => path.length === 0),
].map(({ path, id, login = id, name = id }) => ({ path, id, login, name }));

interface Actor {
  id: unknown;
  name: unknown;
}

type ReadColumn = (eventType: string, data: JsonObject, actor: Actor) => string | null;

const columns = derivedColumns.map((column) => ({ field: column.field, read: compileReader(column) }));

/** Reads the filterable values from JSON text. If the text is not a JSON object, all values are null. */
export function readEventColumns(eventType: string, eventData: string): EventColumns {
  return pickEventColumns(eventType, parseObject(eventData));
}

/** Reads an event's filterable values. The store keeps them as columns, and live delivery compares them with filters. */
export function pickEventColumns(eventType: string, data: JsonObject): EventColumns {
  const actor = findActor(data);
  const values: Partial<EventColumns> = {};
  for (const { field, read } of columns) values[field] = read(eventType, data, actor);
  return values as EventColumns; // Safe cast: every column has a reader.
}

function compileReader({ source, match }: DerivedColumn): ReadColumn {
  const print = match === 'folded' ? folded : filterable;
  if ('role' in source && source.role === 'actor') {
    const { part } = source;
    return (_eventType, _data, actor) => print(actor[part]);
  }
  const places = placesOf(source);
  const types = 'role' in source ? source.types : undefined;
  return (eventType, data) => {
    if (types && !types.includes(eventType)) return null;
    for (const { path, key } of places) {
      const object = objectAt(data, path);
      const text = object && Object.hasOwn(object, key) ? print(object[key]) : null;
      if (text !== null) return text;
    }
    return null;
  };
}

/** Returns the places of a column's value, in order of precedence. */
function placesOf(source: EventDataSource): { path: readonly string[]; key: string }[] {
  if ('path' in source) return [{ path: source.path.slice(0, -1), key: source.path.at(-1) ?? '' }];
  return identityKeys[source.role].flatMap((keys) => {
    const key = keys[source.part];
    return key === undefined ? [] : [{ path: keys.path, key }];
  });
}

function findActor(data: JsonObject): Actor {
  for (const { path, id, login, name } of actorPlaces) {
    const place = objectAt(data, path);
    // A null value counts as present. For example, an anonymous cheer has no actor, and the broadcaster must not become the actor.
    if (place && (Object.hasOwn(place, id) || Object.hasOwn(place, login) || Object.hasOwn(place, name)))
      return { id: place[id], name: place[name] };
  }
  return { id: null, name: null };
}

function objectAt(data: JsonObject, path: readonly string[]): JsonObject | undefined {
  if (path.length === 0) return data;
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
    // Ignore invalid JSON. The database rejects the event with a better error message.
    return {};
  }
}
