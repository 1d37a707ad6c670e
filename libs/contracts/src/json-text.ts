import { ServiceError } from './errors.js';
import { isJsonObject, type JsonObject } from './json-object.js';
import { endOfString, endOfValue, nestingOf, parseJson, quote, readString, skipSpace } from './parse-json.js';

/** Maximum nesting depth. The platform's payloads are far less deep, and other parsers can fail on deeper nesting. */
export const maxNesting = 32;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A JSON object with its parsed value and its original text. Callers can pass on the text of members without printing them again. */
export interface JsonObjectText {
  value: JsonObject;
  /** The whole text without surrounding white space. */
  text: string;
  /** Returns the text of a member's value, exactly as sent. Of repeated names, the last one counts, as in JSON.parse. */
  memberText(name: string): string | undefined;
  /** Returns a member that is an object; undefined if it is missing or has another type. */
  member(name: string): JsonObjectText | undefined;
}

/**
 * Reads the bytes of a JSON object.
 *
 * @throws ServiceError `invalid` for invalid UTF-8 or JSON, nesting deeper than 32, or a value that is not an object
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

/** @throws ServiceError `invalid` if the bytes are not UTF-8 */
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
    // V8's message quotes the text around the error, which can contain a password. Return only the position.
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
