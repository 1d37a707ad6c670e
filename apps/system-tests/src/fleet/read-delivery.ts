/** The fields of a record that system tests need. They are read without parsing the JSON. */
export interface Delivery {
  /** From the event's marker. */
  event: number;
  /** In microseconds of this machine's clock. */
  sentAt: number;
  epoch: string;
  sequence: number;
  /** Last 32 bits of the event's id, from the position. */
  check: number;
  position: string;
}

const markerStart = Buffer.from('"event_data":{"marker":"');
const sentStart = Buffer.from('"sent_us":');
const positionStart = Buffer.from(',"position":"');
// Longest possible end of a record: `<epoch>-<16 digits>-<check>"}`.
const longestPosition = 8 + 1 + 16 + 1 + 8 + 2;

/** Records start with `id`, control messages with `event`. */
export function isRecord(bytes: Buffer, start: number): boolean {
  // The third byte: `i` of {"id":… or `e` of {"event":…
  return bytes[start + 2] === 0x69;
}

/**
 * Reads a record of this form: `{"id":…,"event_data":{"marker":"<run>-<number>","sent_us":<number>,…},…, "position":"<position>"}`.
 *
 * @throws Error if the record has another form
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

/** Reads only the send time, in microseconds. */
export function readSentAt(bytes: Buffer, start: number): number {
  return readNumber(bytes, bytes.indexOf(sentStart, start) + sentStart.length);
}

/** Reads the decimal number at `at`. */
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
