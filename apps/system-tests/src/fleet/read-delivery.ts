/** The fields that a system test needs from a delivered record. They are read without parsing the record. */
export interface Delivery {
  /** The number of the event, from its marker. */
  event: number;
  /** When the event was sent, by this machine's clock, in microseconds. */
  sentAt: number;
  epoch: string;
  sequence: number;
  /** The last 32 bits of the event's id, as the position contains them. */
  check: number;
  /** The position as received. */
  position: string;
}

const markerStart = Buffer.from('"event_data":{"marker":"');
const sentStart = Buffer.from('"sent_us":');
const positionStart = Buffer.from(',"position":"');
// At most `<epoch>-<16 digits>-<check>"}`.
const longestPosition = 8 + 1 + 16 + 1 + 8 + 2;

/** Whether a text is a record rather than a control message. */
export function isRecord(bytes: Buffer, start: number): boolean {
  // {"id":… or {"event":…
  return bytes[start + 2] === 0x69;
}

/**
 * Reads a record that ends with its position: `{"id":…,"event_data":{"marker":"<run>-<number>","sent_us":<number>,…},…,
 * "position":"<position>"}`.
 *
 * @throws when the record has a different form
 */
export function readDelivery(bytes: Buffer, start: number, end: number): Delivery {
  const marker = bytes.indexOf(markerStart, start);
  const dash = bytes.indexOf(0x2d, marker);
  const sent = bytes.indexOf(sentStart, dash) + sentStart.length;
  const from =
    bytes.indexOf(positionStart, end - longestPosition - positionStart.length) + positionStart.length;
  if (marker < start || dash < 0 || sent > end || from > end || from < sent)
    throw new Error(
      `not a record of a system test: ${bytes.toString('utf8', start, Math.min(end, start + 500))}`,
    );
  const position = bytes.toString('latin1', from, end - 2);
  const secondDash = position.indexOf('-', 9);
  return {
    event: readNumber(bytes, dash + 1),
    sentAt: readNumber(bytes, sent),
    epoch: position.slice(0, 8),
    sequence: Number(position.slice(9, secondDash)),
    check: Number.parseInt(position.slice(secondDash + 1), 16),
    position,
  };
}

/** Returns the time when a record's event was sent, in microseconds. Reads no other field. */
export function readSentAt(bytes: Buffer, start: number): number {
  return readNumber(bytes, bytes.indexOf(sentStart, start) + sentStart.length);
}

/** Returns the decimal number that begins at `at`. */
function readNumber(bytes: Buffer, at: number): number {
  let number = 0;
  for (let index = at, digit = digitAt(bytes, index); digit >= 0; index += 1, digit = digitAt(bytes, index))
    number = number * 10 + digit;
  return number;
}

function digitAt(bytes: Buffer, index: number): number {
  const code = bytes[index] ?? 0;
  return code >= 0x30 && code <= 0x39 ? code - 0x30 : -1;
}
