import {
  isJsonObject,
  isTextWithin,
  parseJson,
  parseTextFilter,
  ServiceError,
  textFilters,
  timeFilters,
} from '@stream-events/contracts';
import { queryOf } from '../../http/paths.js';
import { parseTime } from '../../http/time.js';
import { ParameterFaults } from '../../paging/page-parameters.js';
import type { LiveRequest } from '../connections/live-connection.js';
import type { LiveFilter } from '../connections/live-filter.js';
import { maxConnectionNameLength, maxEventTypes } from '../live-limits.js';

/** A client's options by their API names, as sent in the query string or in the first WebSocket message. */
export type LiveFields = Readonly<Record<string, unknown>>;

export interface LiveOptions {
  request: LiveRequest;
  /** WebSocket only: whether records carry their position, and the client gets `ready` and `gap`. */
  positions: boolean;
}

const flags = ['positions', 'keep_alive', 'controls'] as const;
const flagValues = new Map<string, boolean>([
  ['true', true],
  ['false', false],
]);

/**
 * Reads the options in a URL's query string. Only `event_type` can have several values. Of a repeated flag, the first value counts; of any
 * other repeated parameter, the last.
 *
 * @throws ServiceError `unauthenticated` if the query contains a token
 */
export function readLiveQuery(url: string): LiveFields {
  const query = queryOf(url);
  if (query.has('token'))
    throw new ServiceError(
      'unauthenticated',
      'The service does not accept a token in the URL, because URLs are logged. Send the token in the `Authorization` header or, on a WebSocket, as `token` in the first message.',
    );
  const fields: Record<string, unknown> = Object.fromEntries(query);
  if (query.has('event_type')) fields.event_type = query.getAll('event_type');
  for (const flag of flags) {
    const value = query.get(flag);
    if (value) fields[flag] = flagValues.get(value) ?? value;
  }
  return fields;
}

/** Returns undefined if the message is not a JSON object. */
export function readLiveMessage(text: string): LiveFields | undefined {
  try {
    const message = parseJson(text);
    return isJsonObject(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Parses the options of a client. Ignores empty values and unknown fields.
 *
 * @throws ServiceError `invalid` with the errors by field
 */
export function parseLiveFields(fields: LiveFields): LiveOptions {
  const faults = new ParameterFaults();
  const filter = parseFilter(fields, faults);
  const after = faults.attempt(() => readText(fields, 'after'));
  const name = faults.attempt(() => readName(fields));
  const [positions = false, keepAlive = false, controls = false] = flags.map((flag) =>
    faults.attempt(() => readFlag(fields, flag)),
  );
  faults.throwIfAny();
  return { request: { filter, after, name, keepAlive, controls }, positions };
}

function parseFilter(fields: LiveFields, faults: ParameterFaults): LiveFilter {
  const filter: LiveFilter = {};
  for (const { name } of textFilters) {
    if (name === 'event_type') continue;
    Object.assign(
      filter,
      faults.attempt(() => parseTextFilter(name, readText(fields, name) ?? '')),
    );
  }
  const eventType = faults.attempt(() => readEventTypes(fields.event_type)) ?? [];
  if (eventType.length > 0) filter.eventType = eventType;
  for (const { name, field } of timeFilters) {
    const time = faults.attempt(() => readTime(fields, name));
    if (time !== undefined) filter[field] = time;
  }
  return filter;
}

function readEventTypes(value: unknown): string[] {
  const types: unknown[] = [value].flat().filter((type) => !isEmpty(type));
  if (!types.every((type) => typeof type === 'string'))
    throw ServiceError.onField('event_type', 'must be text or a list of text values');
  if (types.length > maxEventTypes)
    throw ServiceError.onField('event_type', `must have at most ${maxEventTypes} event types`);
  return types;
}

function readText(fields: LiveFields, name: string): string | undefined {
  const value = fields[name];
  if (isEmpty(value)) return undefined;
  if (typeof value !== 'string') throw ServiceError.onField(name, 'must be text');
  return value;
}

function readName(fields: LiveFields): string | undefined {
  // Trim the name, because replays trim `connection`: a name with outer spaces would never match.
  const name = readText(fields, 'name')?.trim() || undefined;
  if (name === undefined || isTextWithin(name, 1, maxConnectionNameLength)) return name;
  throw ServiceError.onField('name', `must be text of 1 to ${maxConnectionNameLength} characters`);
}

function readTime(fields: LiveFields, name: string): number | undefined {
  const value = fields[name];
  // Pass '' for a value that is not a string, so that it gets the same error as invalid text.
  return isEmpty(value) ? undefined : parseTime(name, typeof value === 'string' ? value : '');
}

function readFlag(fields: LiveFields, name: string): boolean {
  const value = fields[name];
  if (isEmpty(value)) return false;
  if (typeof value !== 'boolean') throw ServiceError.onField(name, 'must be true or false');
  return value;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
