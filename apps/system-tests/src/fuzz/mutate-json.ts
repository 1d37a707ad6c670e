import type { Random } from './random.js';

/** JSON values as text. Numbers beyond 2^53 and halves of surrogate pairs exist only in this form. */
const values: readonly string[] = [
  ...[
    'null',
    'true',
    'false',
    '0',
    '-0',
    '-1',
    '1.5',
    '1e400',
    '9007199254740993',
    '123456789012345678901234567890',
  ],
  ...[
    '""',
    '"\\u0000"',
    '"\\ud800"',
    '"\\udc00x"',
    '"\u{1f600}"',
    '" x "',
    '"null"',
    '"__proto__"',
    '"2026-11-21T07:30:00Z"',
  ],
  ...[
    '[]',
    '{}',
    '[null]',
    '[[]]',
    '{"":null}',
    '{"__proto__":{"x":1}}',
    '{"constructor":{"prototype":{}}}',
    '{"toJSON":1}',
  ],
  ...[
    '"01999999-9999-7999-8999-999999999999"',
    '"275760-09-13T00:00:00.001Z"',
    '"1"',
    '[1,"a",{}]',
    '{"length":1e9}',
  ],
];

const names = [
  '__proto__',
  'constructor',
  'toString',
  'length',
  'then',
  'id',
  '',
  '\\u0069d',
  'toJSON',
  'hasOwnProperty',
];

// Nesting depths around the service's limit of 32 levels.
const depths = [30, 31, 32, 33, 34, 100, 20_000];
const lengths = [2, 31, 32, 33, 255, 256, 257, 5_000];

/** A member or list item in JSON text: where the value is, and where a member's name starts. */
interface Node {
  from: number;
  to: number;
  nameFrom?: number;
}

/** Changes a part of a JSON text, such as a value or a member. Returns undefined if the input has no such part. */
export function mutateJson(input: Buffer, random: Random, words: readonly string[]): Buffer | undefined {
  const text = input.toString();
  const nodes = findNodes(text);
  if (nodes.length === 0) return undefined;
  const node = random.pick(nodes);
  const value = text.slice(node.from, node.to);
  return Buffer.from(change(text, node, { value, random, words }));
}

function change(
  text: string,
  node: Node,
  { value, random, words }: { value: string; random: Random; words: readonly string[] },
): string {
  const replaceWith = (other: string): string => text.slice(0, node.from) + other + text.slice(node.to);
  switch (random.below(8)) {
    case 0:
      return replaceWith(nest(value, random.pick(depths), random.chance(0.5)));
    case 1:
      return replaceWith(JSON.stringify('x😀'[random.below(2)]?.repeat(random.pick(lengths)) ?? ''));
    case 2:
      return replaceWith(`[${Array(random.pick(lengths)).fill(value).join(',')}]`);
    case 3: // a member before this one: a repeated, inherited, or unknown name
      if (node.nameFrom === undefined) return replaceWith(random.pick(values));
      return `${text.slice(0, node.nameFrom)}"${random.pick([...names, ...words])}":${random.pick([...values, value])},${text.slice(node.nameFrom)}`;
    case 4: // without the name, or without the whole member
      return text.slice(0, node.nameFrom ?? node.from) + text.slice(random.chance(0.5) ? node.from : node.to);
    case 5: // the value as another type
      return replaceWith(value.startsWith('"') ? value.slice(1, -1) : JSON.stringify(value));
    default:
      return replaceWith(random.pick(values));
  }
}

function nest(value: string, depth: number, isList: boolean): string {
  return isList
    ? '['.repeat(depth) + value + ']'.repeat(depth)
    : '{"a":'.repeat(depth) + value + '}'.repeat(depth);
}

/** Finds members and items whose values are strings, numbers, words, or small objects and lists. Works on broken JSON too. */
function findNodes(text: string): Node[] {
  // A mutation needs no exact search. In long texts, search only the beginning.
  const pattern =
    /(?:(?<name>"(?:[^"\\]|\\.){0,60}")\s{0,3}:\s{0,3}|[[,]\s{0,3})(?<value>"(?:[^"\\]|\\.){0,300}"|-?\d[\d.eE+-]{0,40}|true|false|null|\{[^{}]{0,400}\}|\[[^[\]]{0,400}\])/gs;
  return [...text.slice(0, 4_000).matchAll(pattern)].slice(0, 200).map((match) => {
    const { name, value = '' } = match.groups ?? {};
    const to = match.index + match[0].length;
    return { from: to - value.length, to, ...(name !== undefined && { nameFrom: match.index }) };
  });
}
