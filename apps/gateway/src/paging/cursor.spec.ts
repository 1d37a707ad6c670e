import { ServiceError, type ListPosition } from '@stream-events/contracts';
import { anyCharacter } from '@stream-events/testing';
import fc from 'fast-check';
import { v7 as uuidV7 } from 'uuid';
import { parseCursor, printCursor } from './cursor.js';

const list = '["platform-events"]';
const position = fc.record<ListPosition>({
  direction: fc.constantFrom('older', 'newer'),
  id: fc.uuid({ version: [1, 4, 7] }),
  inclusive: fc.boolean(),
});
const somewhere: ListPosition = { direction: 'older', id: uuidV7(), inclusive: false };

function refusalOf(cursor: string, ofList = list): ServiceError | undefined {
  try {
    parseCursor(cursor, ofList);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error;
  }
}

const onCursor = { code: 'invalid', errors: { cursor: [expect.any(String)] } };

describe(printCursor.name, () => {
  it('prints a cursor that parses to the same position', () => {
    fc.assert(
      fc.property(position, fc.string(), (given, anyList) => {
        expect(parseCursor(printCursor(given, anyList), anyList)).toEqual(given);
      }),
    );
  });

  it('needs no encoding in a URL and stays short', () => {
    fc.assert(
      fc.property(position, (given) => {
        expect(printCursor(given, list)).toMatch(/^[\w-]{1,64}$/);
      }),
    );
  });
});

describe(parseCursor.name, () => {
  it('rejects a cursor of another list', () => {
    const cursor = printCursor(somewhere, list);

    expect(refusalOf(cursor, '["platform-events",["event_type","raid"]]')).toMatchObject(onCursor);
    expect(refusalOf(cursor, '')).toMatchObject(onCursor);
  });

  it('rejects a cursor with any flipped bit', () => {
    const bytes = Buffer.from(printCursor(somewhere, list), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);

      expect(refusalOf(flipped.toString('base64url'))).toMatchObject(onCursor);
    }
  });

  it('rejects every truncated cursor', () => {
    const cursor = printCursor(somewhere, list);
    for (let length = 0; length < cursor.length; length += 1) {
      expect(refusalOf(cursor.slice(0, length))).toMatchObject(onCursor);
    }
  });

  it.each([
    ['white space around it', (cursor: string) => ` ${cursor} `],
    ['padding', (cursor: string) => `${cursor}=`],
    ['itself again', (cursor: string) => cursor + cursor],
    ['a NUL', (cursor: string) => `${cursor}\0`],
    ['100,000 characters', (cursor: string) => cursor.padEnd(100_000, 'A')],
  ])('rejects a cursor with %s', (_what, change) => {
    expect(refusalOf(change(printCursor(somewhere, list)))).toMatchObject(onCursor);
  });

  it('rejects any other text', () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc
        .uint8Array({ minLength: 20, maxLength: 32 })
        .map((bytes) => Buffer.from(bytes).toString('base64url')),
    );
    fc.assert(
      fc.property(text, (garbage) => {
        expect(refusalOf(garbage)).toMatchObject(onCursor);
      }),
    );
  });
});
