import { isUtf8 } from 'node:buffer';
import { ServiceError } from '@stream-events/contracts';
import fc from 'fast-check';
import { readForm } from './form-body.decorator.js';

const read = (text: string) => readForm(Buffer.from(text));

describe(readForm.name, () => {
  it('decodes names and values', () => {
    expect(read('a=1&b+c=d%20e+f&%C3%A9=%F0%9F%98%80&g=h=i')).toEqual({
      a: '1',
      'b c': 'd e f',
      é: '😀',
      g: 'h=i',
    });
  });

  it('reads empty names and values', () => {
    expect(read('')).toEqual({});
    expect(read('&a&&b=&=c&')).toEqual({ a: '', b: '', '': 'c' });
  });

  it('uses the last value of a repeated field', () => {
    expect(read('a=1&a=2')).toEqual({ a: '2' });
  });

  it('treats __proto__ as an ordinary field', () => {
    const fields = read('__proto__=x');

    expect(Object.keys(fields)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });

  it.each(['a=%', 'a=%zz', 'a=%ff', '%e2%82=b', 'a=%ed%a0%80'])('rejects %s', (text) => {
    expect(() => read(text)).toThrow(ServiceError);
  });

  it('rejects bytes that are not UTF-8', () => {
    expect(() => readForm(Buffer.from([0x61, 0x3d, 0xff]))).toThrow('The body is not valid UTF-8.');
  });

  it('reads any bytes as text, or rejects them with an error for the client', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        let fields: Record<string, string>;
        try {
          fields = readForm(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
          return;
        }
        expect(isUtf8(bytes)).toBe(true);
        expect(Object.values(fields).every((value) => typeof value === 'string')).toBe(true);
      }),
    );
  });

  it('reads everything that URLSearchParams prints', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })),
        (fields) => {
          expect({ ...read(new URLSearchParams(fields).toString()) }).toEqual({ ...fields });
        },
      ),
    );
  });
});
