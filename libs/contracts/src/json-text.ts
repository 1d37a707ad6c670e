import { ServiceError } from './errors.js';
import { isJsonObject, type JsonObject } from './json-object.js';

/** Deeper nesting than this is refused: no payload of a platform comes near it, and parsers of others may break on it. */
export const maxNesting = 32;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A JSON object as it was sent: its parsed value, and the text of each of its members, so that a member can be handed on
 * without being parsed and written again.
 */
export interface JsonObjectText {
  value: JsonObject;
  /** The whole text, without the white space around it. */
  text: string;
  /** The text of a member's value, exactly as it was sent; of a repeated name, the last one, as JSON.parse takes it. */
  memberText(name: string): string | undefined;
}

/**
 * Reads the bytes of a JSON object.
 *
 * @throws ServiceError `invalid` for bad UTF-8, bad JSON, too deep nesting, or anything that is not an object
 */
export function readJsonObject(bytes: Uint8Array | undefined): JsonObjectText {
  if (!bytes || bytes.length === 0)
    throw new ServiceError('invalid', 'The request needs a body: a JSON object.');
  const text = decodeUtf8(bytes);
  if (nestingOf(text) > maxNesting)
    throw new ServiceError('invalid', `The body is nested deeper than ${maxNesting} levels.`);
  const value = parse(text);
  if (!isJsonObject(value)) {
    throw new ServiceError('invalid', 'The body must be a JSON object.');
  }
  return {
    value,
    text: text.trim(),
    memberText: (name) => findMember(text, name),
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
    return JSON.parse(text);
  } catch (error) {
    // V8 quotes the text around the fault, which may hold a password: say where, not what.
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    throw new ServiceError(
      'invalid',
      `The body is not valid JSON${position ? ` (at character ${position})` : ''}.`,
    );
  }
}

/** How deep brackets are nested in a text, JSON or not. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at) - 1;
    else if (code === openBrace || code === openBracket) deepest = Math.max(deepest, (depth += 1));
    else if (code === closeBrace || code === closeBracket) depth -= 1;
  }
  return deepest;
}

// From here on the text is known to be a valid JSON object: JSON.parse has taken it.

function findMember(text: string, name: string): string | undefined {
  let found: string | undefined;
  let at = skipSpace(text, text.indexOf('{') + 1);
  while (text.charCodeAt(at) === quote) {
    const keyEnd = endOfString(text, at);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    if (readKey(text.slice(at, keyEnd)) === name) found = text.slice(valueStart, valueEnd);
    const separator = skipSpace(text, valueEnd);
    at = skipSpace(text, separator + 1);
  }
  return found;
}

/** The key that a JSON string says; hardly ever is it written with escapes. */
function readKey(json: string): unknown {
  return json.includes('\\') ? JSON.parse(json) : json.slice(1, -1);
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** The index after the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  // The engine looks for a character many times faster than a loop here: strings are most of a message.
  let at = text.indexOf('"', from + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at + 1;
}

/** Whether an odd number of backslashes stands before a character. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  return (at - first) % 2 === 1;
}

/** The index after the value that begins at `from`. */
function endOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === quote) return endOfString(text, from);
  if (first !== openBrace && first !== openBracket) return endOfScalar(text, from);
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at) - 1;
    else if (code === openBrace || code === openBracket) depth += 1;
    else if (code === closeBrace || code === closeBracket) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

function endOfScalar(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === comma || code === closeBrace || code === closeBracket || isSpace(code)) return at;
    at += 1;
  }
  return at;
}
