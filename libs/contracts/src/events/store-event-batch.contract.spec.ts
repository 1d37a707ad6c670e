import { anyCharacter } from '@stream-events/testing';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { ServiceError } from '../errors.js';
import { printTextTable } from '../text-table.js';
import { columnRules, readEventColumns } from './event-columns.js';
import {
  parseStoreEventBatch,
  parseStoreEventBatchReply,
  printStoreEventBatch,
  StoreEventBatchReply,
  withoutColumns,
  type EventWithColumns,
} from './store-event-batch.contract.js';
import { estimateEventBytes, maxBatchEvents, type NewEvent } from './store-events.contract.js';

const id = '018df751-3003-7abc-8def-0123456789ab';

const follow: NewEvent = {
  id,
  eventId: 'message-1',
  eventType: 'channel-follow',
  eventSource: 'PlatformSub',
  origin: 'platform',
  eventData: '{"user_id":"7","user_name":"Ann","broadcaster_user_id":"4711"}',
  idempotencyKey: null,
  occurredAt: 1_764_000_000_123,
};

/** Returns the row for an event: its fields, then its columns. */
function rowOf(event: NewEvent, columns: readonly (string | null)[]): (string | null)[] {
  const { eventId, eventType, eventSource, origin, eventData, idempotencyKey, occurredAt } = event;
  const time = occurredAt == null ? null : String(occurredAt);
  return [event.id, eventId, eventType, eventSource, origin, eventData, idempotencyKey, time, ...columns];
}

function parseRow(row: readonly (string | null)[], head: object): EventWithColumns | undefined {
  return parseStoreEventBatch(printTextTable({ ...head, width: row.length }, row)).events[0];
}

describe(printStoreEventBatch.name, () => {
  const text = (maxLength: number, minLength = 1) =>
    fc
      .string({ unit: anyCharacter, minLength, maxLength })
      .map((value) => `a${value.toWellFormed().replaceAll('\0', '')}`.slice(0, maxLength).toWellFormed());
  const event = fc.record({
    id: fc.constant(id),
    eventId: fc.option(text(255)),
    eventType: text(255),
    eventSource: text(32),
    origin: fc.constantFrom('platform' as const, 'test' as const),
    eventData: fc
      .dictionary(fc.constantFrom('user_id', 'user_name', 'broadcaster_user_id', 'other'), fc.jsonValue())
      .map((value) => JSON.stringify(value)),
    idempotencyKey: fc.option(text(300)),
    occurredAt: fc.option(fc.nat()),
    delivery: fc.option(fc.record({ via: text(64, 0), subscription: text(200), subscribedAt: fc.nat() }), {
      nil: undefined,
    }),
  });

  it('prints what the parser reads, with the columns of the event data', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 5 }), (events) => {
        const expected = events.map((each) => ({
          ...each,
          columns: readEventColumns(each.eventType, each.eventData),
        }));

        expect(parseStoreEventBatch(printStoreEventBatch({ events })).events).toEqual(expected);
        expect(parseStoreEventBatch(printStoreEventBatch({ events: expected })).events).toEqual(expected);
      }),
    );
  });

  it('prints an event in no more bytes than estimated', () => {
    const alone = printStoreEventBatch({ events: [{ ...follow, eventData: '{}' }] }).length;
    fc.assert(
      fc.property(event, (each) => {
        const whole = { ...each, columns: readEventColumns(each.eventType, each.eventData) };
        const head = alone - rowOf(follow, []).join('').length;
        expect(estimateEventBytes(whole) + head).toBeGreaterThan(
          printStoreEventBatch({ events: [whole] }).length,
        );
      }),
    );
  });
});

describe(parseStoreEventBatch.name, () => {
  const columns = Object.values(readEventColumns(follow.eventType, follow.eventData));

  it('leaves out the columns of a sender with other rules', () => {
    expect(parseRow(rowOf(follow, columns), { columns: columnRules })).toMatchObject({
      columns: { userId: '7', userName: 'ann', broadcasterUserId: '4711' },
    });
    expect(parseRow(rowOf(follow, columns), { columns: 'other rules' })).toEqual(follow);
    expect(parseRow(rowOf(follow, []), {})).toEqual(follow);
  });

  it('ignores what a newer sender appends', () => {
    const row = [...rowOf(follow, columns), 'a new field'];

    expect(parseRow(row, { columns: columnRules, future: true })).toEqual(
      parseRow(rowOf(follow, columns), { columns: columnRules }),
    );
  });

  it('rejects what the JSON request rejects, with the path of the field', () => {
    const rejected = (change: Partial<Record<keyof NewEvent, string | null>>) => () =>
      parseStoreEventBatch(printStoreEventBatch({ events: [follow, { ...follow, ...change } as NewEvent] }));

    expect(rejected({ id: 'no id' })).toThrow('events.1.id: ');
    expect(rejected({ eventType: '' })).toThrow('events.1.eventType: ');
    expect(rejected({ eventSource: 'x'.repeat(33) })).toThrow('events.1.eventSource: ');
    expect(rejected({ origin: 'replay' })).toThrow('events.1.origin: ');
    expect(rejected({ idempotencyKey: 'x'.repeat(301) })).toThrow('events.1.idempotencyKey: ');
    expect(rejected({ occurredAt: 'yesterday' })).toThrow('events.1.occurredAt: ');
  });

  it.each([
    ['no events', { columns: columnRules, width: 16 }, []],
    ['a row that is cut', { columns: columnRules, width: 16 }, rowOf(follow, columns).slice(1)],
    ['no width', { columns: columnRules }, rowOf(follow, columns)],
    ['a width without all fields', { width: 4 }, ['a', 'b', 'c', 'd']],
    ['a width of zero', { width: 0 }, rowOf(follow, columns)],
    ['too many events', { width: 8 }, Array.from({ length: maxBatchEvents + 1 }, () => rowOf(follow, [])).flat()], // prettier-ignore
  ])('rejects %s', (_what, head, texts) => {
    expect(() => parseStoreEventBatch(printTextTable(head, texts))).toThrow(ServiceError);
  });
});

describe(parseStoreEventBatchReply.name, () => {
  const parseByClass = (message: object): unknown => {
    const instance = plainToInstance(StoreEventBatchReply, message);
    const faults = validateSync(instance, { whitelist: true });
    return faults.length > 0 ? undefined : JSON.parse(JSON.stringify(instance));
  };
  const parseByHand = (message: object): unknown => {
    try {
      return JSON.parse(JSON.stringify(parseStoreEventBatchReply(message)));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return undefined;
    }
  };

  it('accepts and rejects the same messages as the class, with the same results', () => {
    const nearCount = fc.constantFrom(0, 1, 256, -1, 0.5, '1', null, undefined);
    const exception = fc.record({
      index: nearCount,
      id: fc.constantFrom(id, 'no id', null),
      outcome: fc.constantFrom('stored', 'known', 'dead_lettered', 'other', null),
      extra: fc.constant(1),
    });
    const message = fc.record({
      events: nearCount,
      exceptions: fc.oneof(
        fc.array(exception, { maxLength: 2 }),
        fc.constantFrom(null, undefined, 'none', [null]),
      ),
    });
    fc.assert(
      fc.property(message, (any) => expect(parseByHand(any)).toEqual(parseByClass(any))),
      { numRuns: 1_000 },
    );
  });
});

describe(withoutColumns.name, () => {
  it('returns the other fields', () => {
    const columns = readEventColumns(follow.eventType, follow.eventData);

    expect(withoutColumns({ ...follow, columns })).toEqual(follow);
    expect(withoutColumns(follow)).toEqual(follow);
  });
});
