import { anyCharacter } from '@stream-events/testing';
import fc from 'fast-check';
import { ServiceError } from './errors.js';
import { maxNesting, readJsonObject } from './json-text.js';
import { parseJson } from './parse-json.js';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string) => readJsonObject(encode(text));

/** Returns the error for these bytes. Any error other than a ServiceError fails the test. */
function refusalOf(bytes: Uint8Array | undefined): ServiceError | undefined {
  try {
    readJsonObject(bytes);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error;
  }
}

const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 3 });
const escapeAll = (text: string): string =>
  `"${text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')}"`;
// Strings whose characters a scanner could mistake for structure.
const trickyText = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', ' ', 'a', '\n') }),
  fc.string({ unit: anyCharacter }),
);
const stringJson = trickyText.chain((text) => fc.constantFrom(JSON.stringify(text), escapeAll(text)));
const numberJson = fc.constantFrom('0', '-0', '1e200000', '0.1000', '12345678901234567890123', '-1.5E+3');
const scalarJson = fc.oneof(stringJson, numberJson, fc.constantFrom('true', 'false', 'null'));
const keys = ['a', 'b', '', '"', '\\', '}', '__proto__', 'constructor', 'é', '👍'];
const keyJson = fc
  .constantFrom(...keys)
  .chain((key) =>
    fc.record({ key: fc.constant(key), json: fc.constantFrom(JSON.stringify(key), escapeAll(key)) }),
  );

const { value: valueJson } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, scalarJson, tie('array'), tie('object')),
  array: fc
    .array(fc.tuple(space, tie('value'), space), { maxLength: 4 })
    .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
  object: fc
    .array(fc.tuple(space, keyJson, space, tie('value')), { maxLength: 4 })
    .map(
      (members) =>
        `{${members.map(([before, { json }, after, value]) => `${before}${json}${after}:${value}`).join(',')}}`,
    ),
}));

const memberJson = fc.record({
  key: keyJson,
  value: valueJson,
  spaces: fc.tuple(space, space, space, space),
});
interface Member {
  key: { key: string; json: string };
  value: string;
  spaces: string[];
}
const print = (members: Member[]): string =>
  members.map(({ key, value, spaces: [a, b, c, d] }) => `${a}${key.json}${b}:${c}${value}${d}`).join(',');

describe(readJsonObject.name, () => {
  it('returns each member exactly as sent, the last one of a repeated name', () => {
    fc.assert(
      fc.property(fc.array(memberJson, { maxLength: 6 }), space, space, (members, before, after) => {
        const json = read(`${before}{${print(members)}}${after}`);

        for (const name of keys) {
          const expected = members.findLast(({ key }) => key.key === name)?.value;
          expect(json.memberText(name)).toBe(expected);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('returns the whole text without surrounding white space', () => {
    expect(read('\r\n\t {"a" : 1.0} \n').text).toBe('{"a" : 1.0}');
  });

  it('returns a member text that parses to the parsed value', () => {
    fc.assert(
      fc.property(fc.array(memberJson, { maxLength: 4 }), (members) => {
        const json = read(`{${print(members)}}`);

        for (const name of Object.keys(json.value)) {
          expect(parseJson(json.memberText(name) ?? '')).toEqual(json.value[name]);
        }
      }),
    );
  });

  it('returns members that are objects with the texts of their own members', () => {
    const json = read('{"a": {"b" : {"c":1.0} }, "d":[{}], "e":null}');

    expect(json.member('a')?.memberText('b')).toBe('{"c":1.0}');
    expect(json.member('a')?.member('b')?.memberText('c')).toBe('1.0');
    expect(json.member('a')?.member('b')?.value).toEqual({ c: 1 });
    for (const name of ['d', 'e', 'f', 'constructor', '__proto__']) expect(json.member(name)).toBeUndefined();
  });

  it('reads an escaped name after a name with a backslash (nodejs/node#63785)', () => {
    // Guards against a bug in Node 24: for the second text, `JSON.parse` returns the second key of the first text.
    read('{"first":1,"event\\\\u005":1}');

    expect(read('{"first":1,"event\\u005ftype":"a"}').value).toEqual({ first: 1, event_type: 'a' });
  });

  it('keeps __proto__ as an own member', () => {
    const { value } = read('{"__proto__":{"polluted":true}}');

    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it(`accepts ${maxNesting} levels and rejects one more`, () => {
    const nest = (levels: number): string => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

    expect(refusalOf(encode(nest(maxNesting)))).toBeUndefined();
    expect(refusalOf(encode(nest(maxNesting + 1)))?.detail).toMatch(/nested deeper than 32/);
  });

  it('does not count brackets in strings or closed brackets', () => {
    expect(refusalOf(encode(`{"a":"${'[{\\"'.repeat(100)}"}`))).toBeUndefined();
    expect(refusalOf(encode(`{"a":[${'[[]],'.repeat(100)}{}]}`))).toBeUndefined();
  });

  it.each([
    ['nothing', undefined],
    ['an empty body', new Uint8Array()],
    ['a byte order mark', Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d)],
    ['a cut UTF-8 sequence', Uint8Array.of(0x7b, 0x22, 0xc3, 0x22, 0x7d)],
    ['an overlong UTF-8 sequence', Uint8Array.of(0x7b, 0x22, 0xc0, 0x80, 0x22, 0x7d)],
    ['a surrogate in UTF-8', Uint8Array.of(0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d)],
    ['UTF-16', Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00)],
    ['a raw NUL in a string', encode('{"a":"\0"}')],
    ['a raw line break in a string', encode('{"a":"\n"}')],
    ['NaN', encode('{"a":NaN}')],
    ['a comma at the end', encode('{"a":1,}')],
    ['white space that JSON does not allow', encode('\u00a0{}')],
    ['an array', encode('[]')],
    ['null', encode('null')],
    ['100,000 open brackets', encode('['.repeat(100_000))],
    ['a string without an end', encode('{"a":"\\')],
  ])('rejects %s', (_what, bytes) => {
    expect(refusalOf(bytes)).toMatchObject({ code: 'invalid' });
  });

  it.each([
    ['a number that no float can represent', '{"a":1e200000}', '1e200000'],
    ['an escaped NUL', '{"a":"\\u0000"}', '"\\u0000"'],
    ['half of an escaped surrogate pair', '{"a":"\\ud800"}', '"\\ud800"'],
    ['a big integer', '{"a":9007199254740993}', '9007199254740993'],
  ])('accepts %s and keeps it', (_what, text, expected) => {
    expect(read(text).memberText('a')).toBe(expected);
  });

  it('returns the position of invalid JSON without quoting it', () => {
    const refusal = refusalOf(encode('{"password":"hunter2 hunter2" oops}'));

    expect(refusal?.detail).toMatch(/^The body is not valid JSON( \(at character \d+\))?\.$/);
  });

  it('throws only ServiceErrors for any bytes', () => {
    const mutated = fc
      .tuple(fc.json(), fc.nat(), fc.integer({ min: 0, max: 255 }))
      .map(([text, at, byte]) => {
        const bytes = encode(`{"a":${text}}`);
        bytes[at % bytes.length] = byte;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), (bytes) => {
        const refusal = refusalOf(bytes);

        expect(refusal?.code ?? 'invalid').toBe('invalid');
      }),
      { numRuns: 1_000 },
    );
  });
});
