import { isJsonObject, type JsonObject } from '@stream-events/contracts';
import { malformed } from './platform-call-error.js';

/** @throws PlatformCallError `malformed` when the value is not an object */
export function readObject(value: unknown, what: string): JsonObject {
  if (!isJsonObject(value)) throw malformed(`${what} is not an object`);
  return value;
}

export function readObjects(fields: JsonObject, name: string): JsonObject[] {
  const list = fields[name];
  if (!Array.isArray(list)) throw malformed(`${name} is not a list`);
  return list.map((item: unknown) => readObject(item, `an item of ${name}`));
}

/** Reads a required text. Rejects an empty text. */
export function readText(fields: JsonObject, name: string): string {
  const text = readOptionalText(fields, name);
  if (text === '') throw malformed(`${name} is not a text`);
  return text;
}

/** Reads an optional text, in a form that the database can store. Returns an empty text when the field is missing or is not text. */
export function readOptionalText(fields: JsonObject, name: string): string {
  const text = fields[name];
  return typeof text === 'string' ? toStorable(text) : '';
}

// The largest value that the database's integer columns can hold.
const maxCount = 2 ** 31 - 1;

/** Reads a required whole number from 0 to 2,147,483,647. */
export function readCount(fields: JsonObject, name: string): number {
  const count = readOptionalCount(fields, name);
  if (count === undefined) throw malformed(`${name} is not a whole number`);
  return count;
}

/** Reads a whole number from 0 to 2,147,483,647. Returns undefined when the field is missing or has any other value. */
export function readOptionalCount(fields: JsonObject, name: string): number | undefined {
  const count = fields[name];
  const isCount = typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= maxCount;
  return isCount ? count : undefined;
}

/** Reads a required time. Returns milliseconds since 1970. */
export function readTime(fields: JsonObject, name: string): number {
  const text = fields[name];
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  if (!Number.isFinite(time)) throw malformed(`${name} is not a time`);
  return time;
}

/** Removes NUL and replaces lone surrogates, so that the database can store the text. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}
