import { anyCharacter } from '@stream-events/testing';
import fc from 'fast-check';
import { ServiceError } from './errors.js';
import { parseTextTable, printTextTable } from './text-table.js';

describe('a table of texts', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 20 }).map((value) => value.toWellFormed());
  const texts = fc.array(fc.option(text), { maxLength: 40 });

  it('returns every head and every list of texts and nulls unchanged', () => {
    const head = fc.dictionary(text, fc.oneof(text, fc.integer()));
    fc.assert(
      fc.property(head, texts, (anyHead, anyTexts) => {
        const table = parseTextTable(printTextTable(anyHead, anyTexts));

        expect(table).toEqual({ head: JSON.parse(JSON.stringify(anyHead)) as object, texts: anyTexts });
      }),
    );
  });

  it('keeps empty texts, nulls, byte order marks, and characters of two code units apart', () => {
    const values = ['\ufeffa', '', null, '🎉', '\ufeff', null, '', 'é\n"\\'];

    expect(parseTextTable(printTextTable({}, values)).texts).toEqual(values);
  });

  it('reads a table that begins anywhere in a buffer', () => {
    const bytes = printTextTable({ at: 3 }, ['a', null, 'bc']);
    const buffer = Buffer.concat([Buffer.from('xyz'), bytes, Buffer.from('after')]);

    expect(parseTextTable(buffer.subarray(3, 3 + bytes.length))).toEqual({
      head: { at: 3 },
      texts: ['a', null, 'bc'],
    });
  });

  it('rejects cut, changed, and arbitrary bytes as invalid, and never throws anything else', () => {
    const whole = printTextTable({ rules: 'one' }, ['first', null, 'é🎉']);
    const cut = fc.nat(whole.length - 1).map((length) => whole.subarray(0, length));
    const changed = fc
      .tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }))
      .map(([at, difference]) => whole.map((byte, index) => (index === at ? byte ^ difference : byte)));
    fc.assert(
      fc.property(fc.oneof(cut, changed, fc.uint8Array()), (bytes) => {
        try {
          const { texts: read } = parseTextTable(bytes);
          for (const each of read) expect(each === null || each.isWellFormed()).toBe(true);
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          expect(error.code).toBe('invalid');
        }
      }),
      { numRuns: 1_000 },
    );
    expect(() => parseTextTable(whole.subarray(0, -1))).toThrow(ServiceError);
    expect(() => parseTextTable(Buffer.concat([whole, Buffer.from('x')]))).toThrow(ServiceError);
  });
});
