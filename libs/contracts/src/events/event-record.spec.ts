import { anyCharacter } from '@stream-events/testing';
import fc from 'fast-check';
import { firstIdAt, printEventRecord, receivedAt, type StoredEvent } from './event-record.js';

// `stored` replaces the time in this id with `milliseconds`.
const id = '018df751-3003-7abc-8def-0123456789ab';
const milliseconds = Date.UTC(2024, 1, 29, 23, 59, 59, 987);

function stored(overrides: Partial<StoredEvent> = {}): StoredEvent {
  const at = firstIdAt(milliseconds).slice(0, 13);
  return {
    id: `${at}-${id.slice(14)}`,
    eventId: 'message-1',
    eventType: 'channel-follow',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: '{"user_id":"1"}',
    ...overrides,
  };
}

describe(printEventRecord.name, () => {
  it('prints a stored event with its id and the time to the second, truncated', () => {
    const event = stored();

    expect(printEventRecord(event)).toBe(
      `{"id":"${event.id}","event_id":"message-1","event_type":"channel-follow","event_source":"PlatformSub",` +
        '"event_data":{"user_id":"1"},"created":"2024-02-29T23:59:59+0000","origin":"platform"}',
    );
  });

  it('prints a test event without id and with six fractional digits', () => {
    const record = printEventRecord(stored({ origin: 'test', eventSource: 'TestCall' }));

    expect(JSON.parse(record)).toMatchObject({
      id: null,
      origin: 'test',
      created: '2024-02-29T23:59:59.987000+00:00',
    });
  });

  it('prints an absent event id as null', () => {
    expect(printEventRecord(stored({ eventId: null }))).toContain('"event_id":null,');
  });

  it.each([
    ['key order and numbers', '{"b":1,"a":12345678901234567890123,"c":1.10,"d":1e2}'],
    ['escapes', '{"a":"\\u00e9\\/\\n"}'],
    ['white space', '{ "a" :\n1 }'],
    ['repeated keys', '{"a":1,"a":2}'],
  ])('keeps the data as it was sent: %s', (_, eventData) => {
    expect(printEventRecord(stored({ eventData }))).toContain(`"event_data":${eventData},"created"`);
  });

  it('prints JSON that parses to the same record, for any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter }),
        fc.string({ unit: 'grapheme' }),
        (eventType, eventId) => {
          const read = JSON.parse(printEventRecord(stored({ eventType, eventId }))) as Record<
            string,
            unknown
          >;
          expect(read).toMatchObject({ event_type: eventType, event_id: eventId });
        },
      ),
    );
  });
});

describe(receivedAt.name, () => {
  it('is the inverse of the first id of a millisecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (at) => {
        expect(receivedAt(firstIdAt(at))).toBe(at);
      }),
    );
  });
});

describe(firstIdAt.name, () => {
  it('sorts as time does', () => {
    const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(time, time, (one, other) => {
        expect(firstIdAt(one) < firstIdAt(other)).toBe(one < other);
      }),
    );
  });

  it.each([
    ['before 1970', -1, '00000000-0000-0000-0000-000000000000'],
    ['beyond 48 bits', 8.64e15, 'ffffffff-ffff-0000-0000-000000000000'],
  ])('clamps a time %s', (_, at, expected) => {
    expect(firstIdAt(at)).toBe(expected);
  });
});
