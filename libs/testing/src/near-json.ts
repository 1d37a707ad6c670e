import fc from 'fast-check';
import { anyCharacter } from './any-character.js';

const oddJson = fc.constantFrom(
  ...['null', 'true', '0', '-0', '1e200000', '-1e-200000', '12345678901234567890123', '9007199254740993'],
  ...[
    '[]',
    '{}',
    '[[[]]]',
    '{"":""}',
    '{"__proto__":1}',
    '{"toString":1}',
    '{"constructor":{"prototype":1}}',
  ],
  ...['""', '" "', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', `"${'x'.repeat(256)}"`],
  ...[`"${'👍'.repeat(128)}"`, '['.repeat(40) + ']'.repeat(40)],
);

/** The text of any JSON value. Many are values that parsers often read wrongly. */
export const anyJson: fc.Arbitrary<string> = fc.oneof(oddJson, fc.json({ stringUnit: anyCharacter }));

/** Messages from noise to a valid object with one wrong member. */
export function nearJson(valid: Readonly<Record<string, unknown>>): fc.Arbitrary<string | Uint8Array> {
  const names = [...Object.keys(valid), '__proto__', 'constructor', 'id', 'hasOwnProperty', 'then', ''];
  const mutated = fc.tuple(fc.constantFrom(...names), anyJson).map(([name, value]) => {
    const members = Object.entries(valid).filter(([other]) => other !== name);
    const texts = members.map(([other, kept]) => `${JSON.stringify(other)}:${JSON.stringify(kept)}`);
    return `{${[...texts, `${JSON.stringify(name)}:${value}`].join(',')}}`;
  });
  const cut = fc.tuple(mutated, fc.nat()).map(([text, at]) => text.slice(0, at % text.length));
  const withByte = fc.tuple(mutated, fc.nat(), fc.nat(255)).map(([text, at, byte]) => {
    const bytes = Buffer.from(text);
    bytes[at % bytes.length] = byte;
    return bytes;
  });
  const deep = fc.nat(5_000).map((depth) => `{"event_data":${'[{"a":'.repeat(depth)}`);
  const noise = fc.uint8Array({ maxLength: 300 });
  return fc.oneof({ weight: 4, arbitrary: mutated }, withByte, cut, deep, anyJson, noise);
}
