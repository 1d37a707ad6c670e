import fc from 'fast-check';
import { indentJson } from './indent-json.js';

describe(indentJson.name, () => {
  it('indents as JSON.stringify does, for every value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(indentJson(JSON.stringify(value)))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(indentJson(JSON.stringify(value))).toBe(
          JSON.stringify(value, null, 2).replace(/\p{Cf}/gu, (found) =>
            Array.from(
              { length: found.length },
              (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`,
            ).join(''),
          ),
        );
      }),
    );
  });

  it('keeps large numbers and escapes, and shows characters that cannot be seen', () => {
    expect(indentJson('{"a":12345678901234567890,"b":1.10,"c":"\\u00e9","d":"x\u202Ey"}')).toBe(
      '{\n  "a": 12345678901234567890,\n  "b": 1.10,\n  "c": "\\u00e9",\n  "d": "x\\u202ey"\n}',
    );
  });
});
