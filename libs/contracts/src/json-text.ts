import { ServiceError } from './errors.js';
import { isJsonObject, type JsonObject } from './json-object.js';
import { endOfString, endOfValue, nestingOf, parseJson, quote, readString, skipSpace } from './parse-json.js';

/** The maximum nesting depth. The payloads of platforms stay far below this limit, and other parsers may fail on deeper nesting. */
export const maxNesting = 32;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A JSON object as it was sent: the parsed value, and the text of each member. Callers can pass members on as text, without parsing and
 * printing them again.
 */
export interface JsonObjectText {
  value: JsonObject;
  /** The whole text, without surrounding white space. */
  text: string;
  /** Returns the text of a member's value, exactly as sent. If the name is repeated, returns the last value, like JSON.parse. */
  memberText(name: string): string | undefined;
  /** Returns a member that is an object, as it was sent; undefined when the member is missing or is not an object. */
  member(name: string): JsonObjectText | undefined;
}

/**
 * Reads the bytes of a JSON object.
 *
 * @throws ServiceError `invalid` for invalid UTF-8, invalid JSON, deeper nesting than 32, or anything but an object
 */
export function readJsonObject(bytes: Uint8Array | undefined): JsonObjectText {
  if (!bytes || bytes.length === 0)
    throw new ServiceError('invalid', 'The request body must be a JSON object.');
  const text = decodeUtf8(bytes);
  if (nestingOf(text) > maxNesting)
    throw new ServiceError('invalid', `The body is nested deeper than ${maxNesting} levels.`);
  const value = parse(text);
  if (!isJsonObject(value)) {
    throw new ServiceError('invalid', 'The body must be a JSON object.');
  }
  return toObjectText(value, text.trim());
}

function toObjectText(value: JsonObject, text: string): JsonObjectText {
  return {
    value,
    text,
    memberText: (name) => findMember(text, name),
    member: (name) => {
      const member = Object.hasOwn(value, name) ? value[name] : undefined;
      return isJsonObject(member) ? toObjectText(member, findMember(text, name) ?? '{}') : undefined;
    },
  };
}

/** @throws ServiceError `invalid` for bytes that are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ServiceError('invalid', 'The body is not valid UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    // V8's message quotes the text around the error, which may contain a password. Return only the position.
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    throw new ServiceError(
      'invalid',
      `The body is not valid JSON${position ? ` (at character ${position})` : ''}.`,
    );
  }
}

/** Returns the text of a member's value. `text` must be a valid JSON object. */
function findMember(text: string, name: string): string | undefined {
  let found: string | undefined;
  let at = skipSpace(text, text.indexOf('{') + 1);
  while (text.charCodeAt(at) === quote) {
    const keyEnd = endOfString(text, at);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    if (readString(text.slice(at, keyEnd)) === name) found = text.slice(valueStart, valueEnd);
    const separator = skipSpace(text, valueEnd);
    at = skipSpace(text, separator + 1);
  }
  return found;
}
