import { sentences } from './event-sentences.js';
import { identityKeys, type IdentityKeys } from './identity-keys.js';
import { parseTime } from './parse-time.js';

/** A piece of a sentence. `name` and `text` come from platform users. */
export interface Part {
  kind: 'words' | 'value' | 'name' | 'text';
  text: string;
}

type Data = Readonly<Record<string, unknown>>;

/** The fields of an event record that a sentence needs. */
export interface DescribedEvent {
  event_type: string;
  event_data: Data;
}

/** A user or a channel. */
export interface Actor {
  name: string;
  /** Id on the platform. */
  id: string | undefined;
}

/**
 * Returns the sentence about an event. For an unknown type, or if the event lacks a value that its sentence needs, the sentence names the
 * type, the user, and the channel.
 */
export function describeEvent({ event_type, event_data }: DescribedEvent): Part[] {
  const own = Object.hasOwn(sentences, event_type) ? [sentences[event_type] ?? []].flat() : [];
  for (const template of [...own, `${printWords(event_type)}[ by {@user}][ on {@channel}]`]) {
    const parts = fill(template, event_data);
    if (parts) return parts;
  }
  return [];
}

// In a raid, the raided channel is the channel.
const channelKeys = [...identityKeys.channel, ...identityKeys.raided];

/** Returns the acting user; otherwise the channel; undefined if the event names neither. */
export function actorOf(data: Data): Actor | undefined {
  return readActor(data, findActorKeys(data)) ?? channelOf(data);
}

/** Returns the channel that the event is about; for a raid, the raided channel. */
export function channelOf(data: Data): Actor | undefined {
  return findPerson(channelKeys, data);
}

/** Returns the keys that identify the event's channel. */
export function findChannelKeys(data: Data): IdentityKeys | undefined {
  return channelKeys.find(({ path, id }) => id in objectAt(data, path));
}

/** Fills a template. Returns undefined if a value outside brackets is missing, because the event differs from its type's definition. */
function fill(template: string, data: Data): Part[] | undefined {
  const pieces = template.split(/(\[[^\]]*\])/);
  const parts: Part[] = [];
  for (const piece of pieces) {
    const isOptional = piece.startsWith('[');
    const filled = fillPiece(isOptional ? piece.slice(1, -1) : piece, data);
    if (filled) parts.push(...filled);
    else if (!isOptional) return undefined;
  }
  return parts;
}

function fillPiece(piece: string, data: Data): Part[] | undefined {
  const parts: Part[] = [];
  for (const token of piece.split(/(\{[^}]*\})/)) {
    if (token === '') continue;
    const part = token.startsWith('{') ? printPlaceholder(token.slice(1, -1), data) : words(token);
    if (!part) return undefined;
    parts.push(part);
  }
  return parts;
}

function words(text: string): Part {
  return { kind: 'words', text };
}

function printPlaceholder(placeholder: string, data: Data): Part | undefined {
  const [source = '', printer] = placeholder.split('|');
  const kind = source.startsWith('@') ? 'name' : source.startsWith('"') ? 'text' : 'value';
  const value = find(source.replace(/^[@"]/, ''), data);
  if (printer === 's') return words(countOf(value) === 1 ? '' : 's');
  if (printer === 'if') return value === true ? words('') : undefined;
  const text = print(value, printer);
  return text === undefined || text === '' ? undefined : { kind, text };
}

function countOf(value: unknown): unknown {
  return Array.isArray(value) ? value.length : value;
}

function find(path: string, data: Data): unknown {
  if (path === 'user') return findUser(data);
  if (path === 'channel') return channelOf(data)?.name;
  if (path === 'source') return findSource(data);
  if (isRole(path)) return findPerson(identityKeys[path], data)?.name;
  return path.split('.').reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), data);
}

function isRole(path: string): path is keyof typeof identityKeys {
  return Object.hasOwn(identityKeys, path);
}

/** Returns the channel in which a message of a shared chat was written, if this is another channel. */
function findSource(data: Data): string | undefined {
  const source = readActor(data, {
    path: [],
    id: 'source_broadcaster_user_id',
    login: 'source_broadcaster_user_login',
    name: 'source_broadcaster_user_name',
  });
  return source && source.id !== channelOf(data)?.id ? source.name : undefined;
}

/** Returns the name of the acting user. */
function findUser(data: Data): string | undefined {
  // Twitch uses the name of a bot for some anonymous users, and none for others.
  if (data.is_anonymous === true || data.chatter_is_anonymous === true) return 'An anonymous viewer';
  const keys = findActorKeys(data);
  const isPresent = keys !== undefined && keys.id in objectAt(data, keys.path);
  return readActor(data, keys)?.name ?? (isPresent ? 'Somebody' : undefined);
}

/** Returns the first keys that are present, even if their values are null (docs/live.md, filters). */
function findActorKeys(data: Data): IdentityKeys | undefined {
  return identityKeys.actor.find(({ path, id, login = id, name = id }) => {
    const place = objectAt(data, path);
    return id in place || login in place || name in place;
  });
}

function findPerson(places: readonly IdentityKeys[], data: Data): Actor | undefined {
  return places.map((keys) => readActor(data, keys)).find((person) => person !== undefined);
}

/** Reads a person. The name is the display name, else the login, else the id. */
function readActor(data: Data, keys: IdentityKeys | undefined): Actor | undefined {
  if (!keys) return undefined;
  const place = objectAt(data, keys.path);
  const [id, login, name] = [keys.id, keys.login, keys.name].map((key) => {
    const value = key === undefined ? undefined : place[key];
    return isFilledText(value) ? value : undefined;
  });
  const shown = name ?? login ?? id;
  return shown === undefined ? undefined : { name: shown, id };
}

function objectAt(data: Data, path: readonly string[]): Data {
  return path.reduce<Data>((place, key) => {
    const next = place[key];
    return isObject(next) ? next : {};
  }, data);
}

const number = new Intl.NumberFormat();

/** Printers that a placeholder can name. They return undefined for values that they cannot print. */
const printers: Record<string, (value: unknown) => string | undefined> = {
  number: (value) => (typeof value === 'number' ? number.format(value) : undefined),
  words: (value) => (isFilledText(value) ? value.replaceAll('_', ' ').toLowerCase() : undefined),
  count: (value) => (Array.isArray(value) ? number.format(value.length) : undefined),
  list: (value) => (Array.isArray(value) ? value.filter(isFilledText).join(', ') : undefined),
  tier: (value) =>
    isFilledText(value) ? (value === 'Prime' ? 'Prime' : `Tier ${value.slice(0, 1)}`) : undefined,
  seconds: (value) => (typeof value === 'number' ? `${number.format(value)} s` : undefined),
  time: (value) => {
    const time = isFilledText(value) ? parseTime(value) : undefined;
    return time && !Number.isNaN(time.getTime()) ? time.toLocaleString() : undefined;
  },
  money: (value) => {
    if (!isObject(value)) return undefined;
    const { value: amount, decimal_places: places, currency } = value;
    if (typeof amount !== 'number' || typeof places !== 'number') return undefined;
    return `${number.format(amount / 10 ** places)}${isFilledText(currency) ? ` ${currency}` : ''}`;
  },
};

function print(value: unknown, printer: string | undefined): string | undefined {
  if (printer !== undefined) return printers[printer]?.(value);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

/** Turns `channel-poll-begin` into `Channel poll begin`. */
export function printWords(eventType: string): string {
  const text = eventType.replace(/[-_.]+/g, ' ').trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function isFilledText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
