import { anyCharacter } from '@stream-events/testing';
import fc from 'fast-check';
import { v4 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { encodeBigintArray, encodeTextArray, encodeUuidArray } from './binary-arrays.js';

let store: EventStore;

beforeAll(async () => {
  store = await EventStore.create();
});
afterAll(() => store.close());

/** Returns the elements as the database reads them; as text, because JSON would hide malformed elements. */
async function read(array: Buffer, type: 'uuid' | 'text' | 'bigint'): Promise<(string | null)[]> {
  const rows = await store.dataSource.query<{ value: string | null }[]>(
    `SELECT value::text AS value FROM unnest($1::${type}[]) WITH ORDINALITY AS element (value, at) ORDER BY at`,
    [array],
  );
  return rows.map(({ value }) => value);
}

describe(encodeTextArray.name, () => {
  it('encodes nulls, empty texts, and all characters except NUL', async () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 60 }).map((value) => value.replaceAll('\0', ' '));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text), { minLength: 1, maxLength: 40 }), async (texts) => {
        expect(await read(encodeTextArray(texts), 'text')).toEqual(texts);
      }),
      { numRuns: 60 },
    );
  });

  it.each(['"quoted"', 'back\\slash', '{a,b}', 'NULL', '', '🎉'.repeat(255), 'x'.repeat(256 * 1024)])(
    'encodes a text that an array in text form would have to escape: %.20s',
    async (value) => {
      expect(await read(encodeTextArray([value, null, value]), 'text')).toEqual([value, null, value]);
    },
  );

  it('lets the database reject a NUL', async () => {
    await expect(read(encodeTextArray(['a\0b']), 'text')).rejects.toMatchObject({ code: '22021' });
  });
});

describe(encodeUuidArray.name, () => {
  it('encodes UUIDs', async () => {
    const uuids = Array.from({ length: 256 }, () => v4());
    expect(await read(encodeUuidArray(uuids), 'uuid')).toEqual(uuids);
    expect(await read(encodeUuidArray(uuids.slice(0, 1)), 'uuid')).toEqual(uuids.slice(0, 1));
  });
});

describe(encodeBigintArray.name, () => {
  it('encodes numbers and nulls', async () => {
    const numbers = [0, null, -1, 2 ** 48 - 1, Number.MAX_SAFE_INTEGER, null];
    expect(await read(encodeBigintArray(numbers), 'bigint')).toEqual(
      numbers.map((number) => number?.toString() ?? null),
    );
  });
});
