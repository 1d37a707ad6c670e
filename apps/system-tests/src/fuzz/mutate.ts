import { mutateJson } from './mutate-json.js';
import type { Random } from './random.js';

// Maximum size of an input: just above the gateway's body limit of 256 KiB. Most inputs are short, so that the test sends many per second.
const maxBytes = 300_000;

/** Texts that often break parsers: control characters, broken UTF-8, numbers at limits, and syntax of JSON, URLs, paths, and HTTP. */
const tokens: readonly Buffer[] = [
  ...['\0', '\u{1f600}', '\u202e', '\ufeff', '\u2028', 'ß', 'ẞ', 'İ', 'ﬀ', '́'].map((text) =>
    Buffer.from(text),
  ),
  // Invalid UTF-8: an overlong form, a lone surrogate, a truncated sequence, a code point beyond Unicode, and a byte that never occurs.
  ...['c080', 'eda080', 'f09f98', 'f4908080', 'ff'].map((hex) => Buffer.from(hex, 'hex')),
  ...[
    '%00',
    '%',
    '%zz',
    '%ed%a0%80',
    '%ff',
    '%2e%2e%2f',
    '%25',
    '+',
    '&',
    '=',
    '?',
    '#',
    ';',
    '/',
    '\\',
    '..',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\\u0000',
    '\\ud800',
    '\\"',
    '{"__proto__":',
    '"constructor":',
    'null',
  ],
  ...[
    '-1',
    '0',
    '-0',
    '1e999',
    '-1e-999',
    '9007199254740993',
    '18446744073709551616',
    'NaN',
    'Infinity',
    '0x10',
  ],
  ...[
    'true',
    'false',
    'undefined',
    '[object Object]',
    "'",
    ' ',
    '\t',
    '\r',
    '\n',
    '\r\n',
    '\x7f',
    '🏳️‍🌈',
    "' OR 1=1--",
    '$1',
    '${x}',
  ],
].map((token) => (typeof token === 'string' ? Buffer.from(token) : token));

type Mutation = (input: Buffer, random: Random) => Buffer;

const mutations: readonly Mutation[] = [
  flipBit,
  setByte,
  insertToken,
  insertToken,
  replaceWithToken,
  remove,
  truncate,
  repeat,
];

/**
 * Changes an input in one to four places, as bytes or as JSON. Also inserts parts of `others` (other inputs) and `words` (names,
 * special values, and syntax of the target).
 */
export function mutate(
  input: Buffer,
  random: Random,
  { others, words }: { others: readonly Buffer[]; words: readonly string[] },
): Buffer {
  let result = input;
  for (let count = random.chance(0.5) ? 1 : 1 + random.below(4); count > 0; count -= 1) {
    const choice = random.next();
    if (choice < 0.35) result = mutateJson(result, random, words) ?? random.pick(mutations)(result, random);
    else if (choice < 0.45 && words.length > 0)
      result = insert(result, Buffer.from(random.pick(words)), random);
    else if (choice < 0.55) result = splice(result, random.pick(others), random);
    else result = random.pick(mutations)(result, random);
  }
  return result.length > maxBytes ? result.subarray(0, maxBytes) : result;
}

function flipBit(input: Buffer, random: Random): Buffer {
  const at = random.below(input.length);
  return setAt(input, at, (input[at] ?? 0) ^ (1 << random.below(8)));
}

function setByte(input: Buffer, random: Random): Buffer {
  return setAt(input, random.below(input.length), random.below(256));
}

function setAt(input: Buffer, at: number, byte: number): Buffer {
  const result = Buffer.from(input);
  if (at < result.length) result[at] = byte;
  return result;
}

function insertToken(input: Buffer, random: Random): Buffer {
  return insert(input, random.pick(tokens), random);
}

function insert(input: Buffer, text: Buffer, random: Random): Buffer {
  const at = random.below(input.length + 1);
  return Buffer.concat([input.subarray(0, at), text, input.subarray(at)]);
}

function replaceWithToken(input: Buffer, random: Random): Buffer {
  const { from, to } = pickRange(input, random);
  return Buffer.concat([input.subarray(0, from), random.pick(tokens), input.subarray(to)]);
}

function remove(input: Buffer, random: Random): Buffer {
  const { from, to } = pickRange(input, random);
  return Buffer.concat([input.subarray(0, from), input.subarray(to)]);
}

function truncate(input: Buffer, random: Random): Buffer {
  return input.subarray(0, random.below(input.length + 1));
}

/** Repeats a part of the input up to 40 times. In 2 % of the calls, repeats it up to the maximum size. */
function repeat(input: Buffer, random: Random): Buffer {
  const { from, to } = pickRange(input, random);
  const part = input.subarray(from, to);
  const times = random.chance(0.02) ? 1 + random.below(maxBytes / (part.length + 1)) : 1 + random.below(40);
  return Buffer.concat([input.subarray(0, to), ...Array<Buffer>(times).fill(part), input.subarray(to)]);
}

function splice(input: Buffer, other: Buffer, random: Random): Buffer {
  return Buffer.concat([
    input.subarray(0, random.below(input.length + 1)),
    other.subarray(random.below(other.length + 1)),
  ]);
}

function pickRange(input: Buffer, random: Random): { from: number; to: number } {
  const from = random.below(input.length + 1);
  const length = random.chance(0.7) ? 1 + random.below(8) : random.below(input.length + 1);
  return { from, to: Math.min(input.length, from + length) };
}
