import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { BlockParser, type Block } from './server-sent-events.js';

describe(BlockParser.name, () => {
  const parse = (...pieces: string[]): Block[] => {
    const parser = new BlockParser();
    return pieces.flatMap((piece) => parser.push(piece));
  };

  it('returns an id without data', () => {
    expect(parse('id: 7\n\n')).toEqual([{ id: '7', event: 'message', data: undefined }]);
  });

  it('joins lines of data', () => {
    expect(parse('event: gap\ndata: {\ndata:  "a":1}\n\n')).toEqual([
      { id: undefined, event: 'gap', data: '{\n "a":1}' },
    ]);
  });

  it.each([': a comment\n\n', '\n\n\n', 'data: unfinished\nid: 1\n', 'id: a\0b\n\n'])(
    'finds neither an event nor an id in %j',
    (text) => {
      const found = parse(text).filter(({ id, data }) => id !== undefined || data !== undefined);
      expect(found).toEqual([]);
    },
  );

  it('joins a line break that arrives in two pieces', () => {
    expect(parse('data: a\r', '\n\r', '\ndata: b\r\n\r\n').map(({ data }) => data)).toEqual(['a', 'b']);
  });

  it('rejects a block that never ends', () => {
    const parser = new BlockParser();
    const megabyte = 'x'.repeat(1024 ** 2);
    const pieces = Array.from({ length: 5 }, () => megabyte);
    expect(() => pieces.map((piece) => parser.push(piece))).toThrow(RangeError);
    expect(() => pieces.map((piece) => parser.push(`data: ${piece}\n`))).toThrow(RangeError);
  });

  const lines = fc.constantFrom(
    'id: 1',
    'id',
    'id:2',
    'event: gap',
    'data',
    'data: {"a":1}',
    'data:  b',
    ': c',
    'x: y',
    '',
  );
  const breaks = fc.constantFrom('\n', '\r\n', '\r');
  const texts = fc.array(fc.tuple(lines, breaks), { maxLength: 30 }).map((parts) => parts.flat().join(''));

  it('reads blocks with data as eventsource-parser does, however the text is cut into pieces', () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(200)), (text, cuts) => {
        const ends = [...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
        const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
        const expected: Block[] = [];
        const parser = createParser({
          onEvent: ({ id, event = 'message', data }) => expected.push({ id, event, data }),
        });
        for (const piece of pieces) parser.feed(piece);
        expect(parse(...pieces).filter(({ data }) => data !== undefined)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
