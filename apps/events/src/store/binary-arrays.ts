/**
 * Encodes arrays in PostgreSQL's binary format (see array_recv and array_send in its source), which needs no escaping. Escaping text would
 * be a large part of the cost of writing a batch.
 *
 * ```
 * int32 dimensions │ int32 has nulls │ uint32 type │ int32 length │ int32 lower bound │ each: int32 bytes (-1: null) │ value
 * ```
 */
const headerBytes = 20;
const uuidType = 2950;
const textType = 25;
const bigintType = 20;
const bigintBytes = 8;
const uuidBytes = 16;

/** The UUIDs must be valid. */
export function encodeUuidArray(uuids: readonly string[]): Buffer {
  const buffer = Buffer.allocUnsafe(headerBytes + uuids.length * (4 + uuidBytes));
  let at = writeHeader(buffer, uuidType, uuids.length);
  for (const uuid of uuids) {
    at = buffer.writeInt32BE(uuidBytes, at);
    at += buffer.write(uuid.replaceAll('-', ''), at, 'hex');
  }
  return buffer;
}

export function encodeTextArray(texts: readonly (string | null)[]): Buffer {
  // In UTF-8, a UTF-16 code unit takes at most three bytes.
  const bytes = texts.reduce((sum, text) => sum + 4 + (text === null ? 0 : text.length * 3), headerBytes);
  const buffer = Buffer.allocUnsafe(bytes);
  let at = writeHeader(buffer, textType, texts.length);
  for (const text of texts) {
    if (text === null) {
      at = buffer.writeInt32BE(-1, at);
    } else {
      const written = buffer.write(text, at + 4);
      buffer.writeInt32BE(written, at);
      at += 4 + written;
    }
  }
  return buffer.subarray(0, at);
}

export function encodeBigintArray(numbers: readonly (number | null)[]): Buffer {
  const buffer = Buffer.allocUnsafe(headerBytes + numbers.length * (4 + bigintBytes));
  let at = writeHeader(buffer, bigintType, numbers.length);
  for (const number of numbers) {
    at = buffer.writeInt32BE(number === null ? -1 : bigintBytes, at);
    if (number !== null) at = buffer.writeBigInt64BE(BigInt(number), at);
  }
  return buffer.subarray(0, at);
}

function writeHeader(buffer: Buffer, type: number, length: number): number {
  buffer.writeInt32BE(1, 0);
  // "Has nulls": PostgreSQL ignores this field and looks at the elements.
  buffer.writeInt32BE(0, 4);
  buffer.writeInt32BE(type, 8);
  buffer.writeInt32BE(length, 12);
  return buffer.writeInt32BE(1, 16);
}
