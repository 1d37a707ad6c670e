import { anyCharacter } from '@stream-events/testing';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { ServiceError } from '../errors.js';
import { printTextTable } from '../text-table.js';
import { columnRules, readEventColumns } from './event-columns.js';
import type { NewEvent } from './new-event.js';
import {
  estimateEventBytes,
  maxBatchEvents,
  outcomesOf,
  parseStoreEventBatch,
  parseStoreEventBatchReply,
  printStoreEventBatch,
  StoreEventBatchReply,
  withoutColumns,
  type EventWithColumns,
} from './store-event-batch.contract.js';

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

/** Returns the row for an event: its fields, its columns, and no delivery. */
function rowOf(event: NewEvent, columns: readonly (string | null)[]): (string | null)[] {
  const { eventId, eventType, eventSource, origin, eventData, idempotencyKey, occurredAt } = event;
  const time = occurredAt == null ? null : String(occurredAt);
  return [
    event.id,
    eventId,
    eventType,
    eventSource,
    origin,
    eventData,
    idempotencyKey,
    time,
    ...columns,
    null,
  ];
}

function parseRow(row: readonly (string | null)[], head: object): EventWithColumns | undefined {
  return parseStoreEventBatch(printTextTable({ delivery: row.length - 1, ...head, width: row.length }, row))
    .events[0];
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
    delivery: fc.option(fc.record({ subscription: text(200) }), { nil: undefined }),
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

    expect(parseRow(row, { columns: columnRules, delivery: row.length - 2, future: true })).toEqual(
      parseRow(rowOf(follow, columns), { columns: columnRules }),
    );
  });

  it('rejects an invalid event, with the path of the field', () => {
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
    ['no events', { delivery: 8, width: 9 }, []],
    ['a row that is cut', { delivery: 8, width: 9 }, rowOf(follow, []).slice(1)],
    ['no width', { delivery: 8 }, rowOf(follow, [])],
    ['no index of the deliveries', { width: 9 }, rowOf(follow, [])],
    ['a delivery beyond the end', { delivery: 9, width: 9 }, rowOf(follow, [])],
    ['a delivery among the fields', { delivery: 7, width: 9 }, rowOf(follow, [])],
    ['a width without all fields', { width: 4 }, ['a', 'b', 'c', 'd']],
    ['a width of zero', { delivery: 8, width: 0 }, rowOf(follow, [])],
    ['too many events', { delivery: 8, width: 9 }, Array.from({ length: maxBatchEvents + 1 }, () => rowOf(follow, [])).flat()], // prettier-ignore
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
    const nearUuid = fc.constantFrom(
      ...[id, id.toUpperCase(), `${id}\n`, ` ${id}`, id.replaceAll('-', ''), 'no id', null],
      ...['0', '1', '4', '8', '9'].map((version) => id.replace('-7', `-${version}`)),
      ...['0', '7', 'c', 'F'].map((variant) => id.replace('-8', `-${variant}`)),
      ...['0', 'f', 'F', '1'].map((digit) => id.replace(/[0-9a-f]/g, digit)),
    );
    const nearCount = fc.constantFrom(0, 1, 256, -1, 0.5, '1', null, undefined);
    const exception = fc.record({
      index: nearCount,
      id: nearUuid,
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

describe(outcomesOf.name, () => {
  const events = [1, 2, 3].map((digit) => ({ ...follow, id: id.replace(/.$/, String(digit)) }));

  it('returns the exceptions, and `stored` for the other events', () => {
    expect(outcomesOf(events, { events: 3, exceptions: [{ index: 1, id, outcome: 'known' }] })).toEqual([
      { id: events[0]?.id, outcome: 'stored' },
      { id, outcome: 'known' },
      { id: events[2]?.id, outcome: 'stored' },
    ]);
  });

  it('rejects a reply about another number of events', () => {
    expect(() => outcomesOf(events, { events: 2, exceptions: [] })).toThrow('2 events instead of 3');
  });
});

describe(withoutColumns.name, () => {
  it('returns the other fields', () => {
    const columns = readEventColumns(follow.eventType, follow.eventData);

    expect(withoutColumns({ ...follow, columns })).toEqual(follow);
    expect(withoutColumns(follow)).toEqual(follow);
  });
});
