import { isJsonObject, type JsonObject } from '../json-object.js';
import { parseJson } from '../parse-json.js';
import { foldCase, isTextWithin } from '../text.js';
import { derivedColumns, type DerivedColumn, type EventColumns } from './filter-columns.js';

// Longer values are stored with the event, but filters do not match them.
const maxCharacters = 255;

// Increase this number when the derived value of any column changes. Services of two versions can run side by side, and one must not use
// values that the other derived by different rules.
const rulesVersion = 1;

/** Identifies the derived columns and the rules for their values. */
export const columnRules = [rulesVersion, ...derivedColumns.map(({ name }) => name)].join(' ');

/** Keys that can hold the acting user, in order of precedence. The broadcaster is the actor only if all other keys are missing. */
const actorPlaces = [
  { path: [], prefix: 'user' },
  { path: [], prefix: 'chatter_user' },
  { path: ['data', 'message'], prefix: 'user' },
  { path: ['message'], prefix: 'user' },
  { path: [], prefix: 'from_broadcaster_user' },
  { path: [], prefix: 'from_user' },
  { path: [], prefix: 'broadcaster_user' },
].map(({ path, prefix }) => ({
  path,
  id: `${prefix}_id`,
  login: `${prefix}_login`,
  name: `${prefix}_name`,
}));

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
  for (const { path, id, login, name } of actorPlaces) {
    const place = objectAt(data, path);
    // A null value counts as present. For example, an anonymous cheer has no actor, and the broadcaster must not become the actor.
    if (place && (Object.hasOwn(place, id) || Object.hasOwn(place, login) || Object.hasOwn(place, name)))
      return { id: place[id], name: place[name] };
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
    // Ignore invalid JSON. The database rejects the event with a better error message.
    return {};
  }
}
