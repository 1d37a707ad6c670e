import { isJsonObject } from '@stream-events/contracts';
import { malformed } from './platform-call-error.js';

/** A JSON object of the platform, whose fields are read one by one; unknown ones are left alone. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** @throws PlatformCallError when it is no object */
export function readObject(value: unknown, what: string): JsonFields {
  if (!isJsonObject(value)) throw malformed(`${what} is no object`);
  return value;
}

/** The objects of a list. */
export function readObjects(fields: JsonFields, name: string): JsonFields[] {
  const list = fields[name];
  if (!Array.isArray(list)) throw malformed(`${name} is no list`);
  return list.map((item: unknown) => readObject(item, `an item of ${name}`));
}

/** A text that must be there, and not be empty. */
export function readText(fields: JsonFields, name: string): string {
  const text = readOptionalText(fields, name);
  if (text === '') throw malformed(`${name} is no text`);
  return text;
}

/** A text that may be missing or empty; as the database can store it. */
export function readOptionalText(fields: JsonFields, name: string): string {
  const text = fields[name];
  return typeof text === 'string' ? toStorable(text) : '';
}

// Of the database's integer columns; in seconds, a lifetime.
const largestCount = 2 ** 31 - 1;

/** A whole number from 0 to 2,147,483,647. */
export function readCount(fields: JsonFields, name: string): number {
  const count = readOptionalCount(fields, name);
  if (count === undefined) throw malformed(`${name} is no whole number`);
  return count;
}

/** The same, which may be missing. */
export function readOptionalCount(fields: JsonFields, name: string): number | undefined {
  const count = fields[name];
  const isCount = typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= largestCount;
  return isCount ? count : undefined;
}

/** A time in milliseconds since 1970. */
export function readTime(fields: JsonFields, name: string): number {
  const text = fields[name];
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  if (!Number.isFinite(time)) throw malformed(`${name} is no time`);
  return time;
}

/** Without NUL and without halves of surrogate pairs. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}
