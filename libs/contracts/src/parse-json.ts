/**
 * Parses JSON like `JSON.parse`, but reads escaped names correctly.
 *
 * V8 in Node 24 and 26 has a bug (nodejs/node#63785). It compares an escaped name, such as `"user\u005fid"`, with names of previously
 * parsed objects, but only by the first characters of the raw text. Once any text has contained the name `user\u0`, `JSON.parse` returns
 * that name instead of `user_id`. Values are always correct, and so are names without escapes.
 *
 * Use this function for all JSON from outside: request bodies, event data, platform replies, and client messages. The exception is
 * `libs/client`: it must not import our other libraries, so it uses `JSON.parse`.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasEscapedName(text) ? new JsonReader(text).read() : value;
}

/** Whether any name has an escape. The check is cheap, because it reads only strings with escapes. */
function hasEscapedName(text: string): boolean {
  let at = text.indexOf('\\');
  while (at !== -1) {
    const end = endOfString(text, at);
    if (text.charCodeAt(skipSpace(text, end)) === colon) return true;
    at = text.indexOf('\\', end);
  }
  return false;
}

/** Returns the depth of nested brackets. The text does not have to be valid JSON. */
export function nestingOf(text: string): number {
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

/** Parses valid JSON in one pass. Used only for the rare texts with escaped names. */
class JsonReader {
  private at = 0;

  constructor(private readonly text: string) {}

  read(): unknown {
    this.at = skipSpace(this.text, this.at);
    const code = this.text.charCodeAt(this.at);
    if (code === openBrace) return this.readObject();
    if (code === openBracket) return this.readList();
    const from = this.at;
    this.at = endOfScalar(this.text, from);
    return JSON.parse(this.text.slice(from, this.at));
  }

  private readObject(): Record<string, unknown> {
    const members: [string, unknown][] = [];
    while (this.hasNext(closeBrace)) {
      const from = this.at;
      this.at = endOfString(this.text, from);
      const name = readString(this.text.slice(from, this.at));
      this.at = skipSpace(this.text, this.at) + 1; // skip the colon
      members.push([name, this.read()]);
    }
    // As in JSON.parse, `__proto__` is an ordinary member, and the last value of a repeated name wins.
    return Object.fromEntries(members);
  }

  private readList(): unknown[] {
    const items: unknown[] = [];
    while (this.hasNext(closeBracket)) items.push(this.read());
    return items;
  }

  /** Skips the opening bracket or a comma. Returns whether an item follows. If not, also skips the closing bracket. */
  private hasNext(close: number): boolean {
    this.at = skipSpace(this.text, this.at);
    if (this.text.charCodeAt(this.at) !== close) this.at = skipSpace(this.text, this.at + 1);
    if (this.text.charCodeAt(this.at) !== close) return true;
    this.at += 1;
    return false;
  }
}

/** Returns a JSON string's value. Every Node version parses escapes in values correctly. */
export function readString(json: string): string {
  return json.includes('\\') ? String(JSON.parse(json)) : json.slice(1, -1);
}

export const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;

export function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Returns the index after the string's closing quote. `from` is the start of the string or an escape inside it. */
export function endOfString(text: string, from: number): number {
  // Messages consist mostly of strings, and indexOf is many times faster than a loop.
  let at = text.indexOf('"', from + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at + 1;
}

/** Whether an odd number of backslashes precedes the character. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  return (at - first) % 2 === 1;
}

/** Returns the index after the value that starts at `from`. */
export function endOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
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

/** Returns the index after the string, number, or word that starts at `from`. */
function endOfScalar(text: string, from: number): number {
  if (text.charCodeAt(from) === quote) return endOfString(text, from);
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === comma || code === closeBrace || code === closeBracket || isSpace(code)) return at;
    at += 1;
  }
  return at;
}
