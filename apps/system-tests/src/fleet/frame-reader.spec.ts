import fc from 'fast-check';
import { FrameReader, opcodes } from './frame-reader.js';

/** A server frame with the shortest length field that fits. */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = [0x80 | opcode];
  if (length < 126) head.push(length);
  else if (length < 65_536) head.push(126, length >> 8, length & 255);
  else head.push(127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255);
  return Buffer.concat([Buffer.from(head), payload]);
}

function read(chunks: Buffer[]): { texts: string[]; controls: [number, string][] } {
  const texts: string[] = [];
  const controls: [number, string][] = [];
  const reader = new FrameReader({
    onText: (bytes, start, end) => texts.push(bytes.toString('utf8', start, end)),
    onControl: (opcode, payload) => controls.push([opcode, payload.toString()]),
  });
  for (const chunk of chunks) {
    reader.push(chunk);
    // Overwrite the chunk, as a socket that reuses its read buffer does.
    chunk.fill(0);
  }
  return { texts, controls };
}

describe(FrameReader.name, () => {
  it.each([0, 1, 125, 126, 65_535, 65_536, 100_000])('reads a text of %d bytes', (length) => {
    const text = 'x'.repeat(length);

    expect(read([frame(opcodes.text, Buffer.from(text))]).texts).toEqual([text]);
  });

  it('reads the same frames regardless of how the bytes are split', () => {
    const texts = ['', 'a', 'ü'.repeat(100), 'b'.repeat(70_000)];
    const bytes = Buffer.concat(texts.map((text) => frame(opcodes.text, Buffer.from(text))));
    const cuts = fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 20 });

    fc.assert(
      fc.property(cuts, (unsorted) => {
        const edges = [0, ...unsorted, bytes.length].sort((a, b) => a - b);
        const pieces = edges.slice(1).map((end, index) => Buffer.from(bytes.subarray(edges[index], end)));
        expect(read(pieces).texts).toEqual(texts);
      }),
      { numRuns: 50 },
    );
  });

  it('distinguishes control frames from text', () => {
    const bytes = [frame(opcodes.ping, Buffer.from('p')), frame(opcodes.text, Buffer.from('t'))];

    expect(read([Buffer.concat(bytes)])).toEqual({ texts: ['t'], controls: [[opcodes.ping, 'p']] });
  });

  it.each([
    ['masked', Buffer.from([0x81, 0x80, 0, 0, 0, 0])],
    ['the first fragment of a message', Buffer.from([0x01, 0])],
    ['not text', Buffer.from([0x82, 0])],
    ['a record in the middle', Buffer.from('{"id":"019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11"')],
  ])('throws on a frame that is %s', (_, bytes) => {
    expect(() => read([bytes])).toThrow(/frame/);
  });
});
