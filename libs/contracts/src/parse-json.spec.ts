import fc from 'fast-check';
import { parseJson } from './parse-json.js';

/** After parsing one of these texts, Node 24 misreads names: it confuses the next escaped name in the same place with a remembered one. */
const poisons = [
  '{"h":[],"\\\\":0}',
  '{"user_id":"first","user\\\\u0":1}',
  '{"a":[{"list":1,"user\\\\u0":1}]}',
];

/** Prints a JSON string with some characters as `\uXXXX`. */
function escapeSome(text: string, isEscaped: (index: number) => boolean): string {
  const units = text.split('').map((unit, index) => {
    const escape = `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    return isEscaped(index) ? escape : JSON.stringify(unit).slice(1, -1);
  });
  return `"${units.join('')}"`;
}

const names = [
  'a',
  'ab',
  '\\',
  '"',
  '\n',
  'a\\',
  '\\u',
  '\\\\',
  'user_id',
  'user\\u0',
  '',
  '__proto__',
  'é',
  '👍',
];
const scalar = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', '\\', '{', ':', ',', ' ', 'a') }).map((text) => ({ text: JSON.stringify(text), value: text })), // prettier-ignore
  fc.constantFrom(...[null, true, -1.5, 0].map((value) => ({ text: ` ${JSON.stringify(value)} `, value: value }))), // prettier-ignore
);
const { node } = fc.letrec<{ node: { text: string; value: unknown } }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('node'), { maxLength: 3 }).map((items) => ({
      text: `[${items.map(({ text }) => text).join(' ,')}]`,
      value: items.map(({ value }) => value),
    })),
    fc
      .array(fc.tuple(fc.constantFrom(...names), fc.nat(2), tie('node')), { maxLength: 4 })
      .map((members) => ({
        text: `{ ${members.map(([name, every, { text }]) => `${escapeSome(name, (index) => every > 0 && index % every === 0)} :${text}`).join(',\n')}}`,
        value: Object.fromEntries(members.map(([name, , { value }]) => [name, value])),
      })),
  ),
}));

describe(parseJson.name, () => {
  it.each([
    ['{"h":1,"\\"":2}', { h: 1, '"': 2 }],
    ['{"h":1,"\\n":2}', { h: 1, '\n': 2 }],
    ['{"user_id":"first","user\\u005fid":"last"}', { user_id: 'last' }],
    ['{"a":[{"list":1,"user\\u005fid":"7"}]}', { a: [{ list: 1, user_id: '7' }] }],
  ])('reads %s correctly after names with a backslash (nodejs/node#63785)', (text, expected) => {
    for (const poison of poisons) parseJson(poison);

    expect(parseJson(text)).toEqual(expected);
  });

  it('reads any JSON, whatever it has read before', () => {
    fc.assert(
      fc.property(node, ({ text, value }) => {
        expect(parseJson(text)).toEqual(value);
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps __proto__ as an own member, also when it is escaped', () => {
    const value = parseJson('{"\\u005f_proto__":{"polluted":true}}') as object;

    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it.each(['', '{', '{"\\u0061":}', '{"\\u0061":1,}', '{"\\x":1}'])('throws for %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
