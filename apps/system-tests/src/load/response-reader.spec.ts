import fc from 'fast-check';
import { ResponseReader } from './response-reader.js';

const text = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\ncontent-length: 13\r\n\r\nhello\r\n\r\nyou!';

function readInChunks(response: string, sizes: readonly number[]) {
  const reader = new ResponseReader();
  const bytes = Buffer.from(response, 'latin1');
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    if (at >= bytes.length) break;
    const result = reader.add(bytes.subarray(at, at + size));
    at += size;
    if (result) return { ...result, body: result.body.toString('latin1'), rest: bytes.length - at };
  }
  return undefined;
}

describe(ResponseReader.name, () => {
  it('reads a response in chunks of any sizes, and not before its last byte', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 })), (sizes) => {
        expect(readInChunks(text, sizes)).toMatchObject({ status: 200, body: 'hello\r\n\r\nyou!' });
        expect(readInChunks(text.slice(0, -1), sizes)).toBeUndefined();
      }),
    );
  });

  it('reads a response without a body', () => {
    expect(readInChunks('HTTP/1.1 204 No Content\r\nx-request-id: 1\r\n\r\n', [])).toMatchObject({
      status: 204,
      body: '',
    });
  });

  it('throws when a response with a body has no length', () => {
    expect(() => readInChunks('HTTP/1.1 200 OK\r\n\r\nhello', [])).toThrow('without Content-Length');
  });
});
