import { parseTime } from './parse-time.js';
import { sentences } from './event-sentences.js';

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
  const template = Object.hasOwn(sentences, event_type) ? sentences[event_type] : undefined;
  const parts = template === undefined ? undefined : fill(template, event_data);
  return parts ?? fill(`${printWords(event_type)}[ by {@user}][ on {@channel}]`, event_data) ?? [];
}

/** Returns the acting user; otherwise the channel; undefined if the event names neither. */
export function actorOf(data: Data): Actor | undefined {
  for (const prefix of [userPrefixOf(data), ...channelPrefixes]) {
    const name = nameOf(data, prefix);
    const id = data[`${prefix}_id`];
    if (name !== undefined) return { name, id: isFilledText(id) ? id : undefined };
  }
  return undefined;
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
  const text = print(value, printer);
  return text === undefined || text === '' ? undefined : { kind, text };
}

function countOf(value: unknown): unknown {
  return Array.isArray(value) ? value.length : value;
}

function find(path: string, data: Data): unknown {
  if (path === 'user') return findUser(data) ?? (hasUser(data) ? 'Somebody' : undefined);
  if (path === 'channel') return findChannel(data);
  return path.split('.').reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), data);
}

// Prefixes of the top-level keys in which the service finds the acting user, except the broadcaster (docs/live.md, filters).
const userPrefixes = ['user', 'chatter_user', 'from_broadcaster_user', 'from_user'];

function userPrefixOf(data: Data): string | undefined {
  return userPrefixes.find((each) => `${each}_id` in data || `${each}_name` in data);
}

function findUser(data: Data): string | undefined {
  return nameOf(data, userPrefixOf(data));
}

/** Whether the event has a user, even an anonymous one. */
function hasUser(data: Data): boolean {
  return userPrefixes.some((prefix) => `${prefix}_id` in data);
}

const channelPrefixes = ['broadcaster_user', 'broadcaster', 'to_broadcaster_user'];

function findChannel(data: Data): string | undefined {
  return channelPrefixes.map((prefix) => nameOf(data, prefix)).find(isFilledText);
}

/** Returns the display name, else the login, else the id. */
function nameOf(data: Data, prefix: string | undefined): string | undefined {
  if (prefix === undefined) return undefined;
  return ['name', 'login', 'id'].map((key) => data[`${prefix}_${key}`]).find(isFilledText);
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
