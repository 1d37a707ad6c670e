import { ServiceError } from './errors.js';
import { isJsonObject, type JsonObject } from './json-object.js';

/**
 * A head and a list of texts and nulls, encoded as bytes. The texts are joined: one call converts all of them to or from UTF-8, and none
 * needs escapes.
 *
 * ```
 * uint32: bytes of the head │ the head: JSON │ uint32: number of texts │ uint32 for each text: its length │ all texts in UTF-8
 * ```
 *
 * Numbers are little-endian. Lengths are in UTF-16 code units; 2^32 - 1 stands for null.
 */
const numberBytes = 4;
const nullLength = 2 ** 32 - 1;
// A UTF-16 code unit takes at most three bytes in UTF-8.
const maxBytesPerUnit = 3;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A parsed table. */
export interface TextTable {
  head: JsonObject;
  texts: (string | null)[];
}

/** Encodes a table. The texts must be well-formed Unicode. */
export function printTextTable(head: JsonObject, texts: readonly (string | null)[]): Uint8Array {
  const headText = JSON.stringify(head);
  const joined = texts.join(''); // a null becomes an empty text
  const maxHeadBytes = headText.length * maxBytesPerUnit;
  const buffer = Buffer.allocUnsafe(
    2 * numberBytes + maxHeadBytes + texts.length * numberBytes + joined.length * maxBytesPerUnit,
  );
  const headBytes = buffer.write(headText, numberBytes);
  buffer.writeUInt32LE(headBytes, 0);
  let at = buffer.writeUInt32LE(texts.length, numberBytes + headBytes);
  for (const text of texts) at = buffer.writeUInt32LE(text === null ? nullLength : text.length, at);
  return buffer.subarray(0, at + buffer.write(joined, at));
}

/** @throws ServiceError `invalid` */
export function parseTextTable(bytes: Uint8Array): TextTable {
  try {
    return readTable(bytes);
  } catch (error) {
    throw new ServiceError('invalid', 'The message is not a table of texts.', { cause: error });
  }
}

/** @throws RangeError, SyntaxError, or TypeError */
function readTable(bytes: Uint8Array): TextTable {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headEnd = numberBytes + view.getUint32(0, true);
  const head: unknown = JSON.parse(decoder.decode(bytes.subarray(numberBytes, headEnd)));
  if (!isJsonObject(head)) throw new TypeError('the head is not an object');
  const count = view.getUint32(headEnd, true);
  const lengthsAt = headEnd + numberBytes;
  const joined = decoder.decode(bytes.subarray(lengthsAt + count * numberBytes));
  const texts: (string | null)[] = [];
  let from = 0;
  for (let index = 0; index < count; index += 1) {
    const length = view.getUint32(lengthsAt + index * numberBytes, true);
    if (length === nullLength) texts.push(null);
    else texts.push(joined.slice(from, (from += length)));
  }
  if (from !== joined.length) throw new RangeError('the lengths do not match the texts');
  return { head, texts };
}
