import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { anyCharacter } from '@stream-events/testing';
import fc from 'fast-check';
import type { MessageClass } from '../contract.js';
import { ServiceError } from '../errors.js';
import {
  estimateEventBytes,
  maxBatchEvents,
  NewEvent,
  parseStoreEventsReply,
  parseStoreEventsRequest,
  StoreEventsReply,
  StoreEventsRequest,
} from './store-events.contract.js';

const valid = {
  id: '018df751-3003-7abc-8def-0123456789ab',
  eventId: 'message-1',
  eventType: 'channel-follow',
  eventSource: 'PlatformSub',
  origin: 'platform',
  eventData: '{}',
  idempotencyKey: null,
  occurredAt: 1_764_000_000_123,
  delivery: { via: '0badcafe', subscription: '["channel.follow","2",["user_id","7"]]', subscribedAt: 1 },
};

/** Parses with the decorators. Returns undefined if they reject the message. */
function parseByClass<T extends object>(type: MessageClass<T>, message: unknown): unknown {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return undefined;
  const instance = plainToInstance(type, message);
  const faults = validateSync(instance, { whitelist: true, forbidUnknownValues: true });
  return faults.length > 0 ? undefined : JSON.parse(JSON.stringify(instance));
}

/** Parses with a hand-written parser. Rejections must be `invalid` errors that name the fields. */
function parseByHand(parse: (message: unknown) => object, message: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(parse(message)));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error).toMatchObject({ code: 'invalid', errors: expect.any(Object) as unknown });
    return undefined;
  }
}

function expectEqualParsing(message: unknown): void {
  expect(parseByHand(parseStoreEventsRequest, message)).toEqual(parseByClass(StoreEventsRequest, message));
  expect(parseByHand(parseStoreEventsReply, message)).toEqual(parseByClass(StoreEventsReply, message));
}

const hex = (digits: number) => fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: digits, maxLength: digits }); // prettier-ignore
const nearUuid = fc.oneof(
  fc
    .tuple(
      hex(8),
      hex(4),
      fc.constantFrom(...'01478'),
      hex(3),
      fc.constantFrom(...'089aBcf'),
      hex(3),
      hex(12),
    )
    .map(([a, b, version, c, variant, d, e]) => `${a}-${b}-${version}${c}-${variant}${d}-${e}`),
  fc.constantFrom(
    valid.id,
    `${valid.id}\n`,
    ` ${valid.id}`,
    valid.id.replaceAll('-', ''),
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'FFFFFFFF-ffff-ffff-ffff-ffffffffffff',
  ),
);
const lengths = fc.constantFrom(0, 1, 2, 31, 32, 33, 254, 255, 256, 299, 300, 301, 509, 511, 601);
const nearText = fc.tuple(lengths, fc.constantFrom('a', 'é', '🎉', '\0', '\ud800', '\udc00')).map(([length, unit]) => unit.repeat(length)); // prettier-ignore
const nearTime = fc.constantFrom(-1, 0, 0.5, 2 ** 48 - 1, 2 ** 48, '2026-11-21T07:30:00Z');
const anyValue = fc.oneof(
  nearTime,
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant(undefined),
  nearText,
  nearUuid,
);
const nearDelivery = fc.oneof(
  fc.tuple(fc.constantFrom(...Object.keys(valid.delivery), 'extra'), anyValue).map(([field, value]) => ({ ...valid.delivery, [field]: value })), // prettier-ignore
  fc.constantFrom(null, undefined, {}, [], [valid.delivery], 'text'),
);
const nearEvent = fc.oneof(
  { weight: 2, arbitrary: nearDelivery.map((delivery) => ({ ...valid, delivery })) },
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom(...Object.keys(valid), 'extra'), anyValue).map(([field, value]) => ({ ...valid, [field]: value })) }, // prettier-ignore
  { weight: 2, arbitrary: fc.subarray(Object.keys(valid)).map((fields) => Object.fromEntries(Object.entries(valid).filter(([field]) => fields.includes(field)))) }, // prettier-ignore
  { weight: 1, arbitrary: fc.constant(valid) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom(null, [], [valid], {}) },
);
const nearOutcome = fc.oneof(
  { weight: 5, arbitrary: fc.record({ id: nearUuid, outcome: fc.oneof(fc.constantFrom('stored', 'known', 'dead_lettered', 'toString'), anyValue), extra: anyValue }) }, // prettier-ignore
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom(null, [], {}, [{ id: valid.id, outcome: 'stored' }]) },
);

describe('the hand-written parsers of the write path', () => {
  it('accept and reject the same near-valid messages as the classes, with the same results', () => {
    fc.assert(
      fc.property(
        fc.record({
          events: fc.array(nearEvent, { maxLength: 3 }),
          outcomes: fc.array(nearOutcome, { maxLength: 3 }),
        }),
        expectEqualParsing,
      ),
      { numRuns: 2_000 },
    );
  });

  it('accept and reject the same arbitrary JSON as the classes', () => {
    const junk = fc.oneof(
      fc.jsonValue(),
      fc.constant(undefined),
      fc.dictionary(fc.constantFrom('events', 'outcomes', '__proto__', 'length'), fc.jsonValue()),
    );
    fc.assert(fc.property(junk, expectEqualParsing), { numRuns: 1_000 });
  });

  it.each([1, maxBatchEvents, maxBatchEvents + 1])('agree with the classes on a batch of %d', (count) => {
    const message = { events: Array.from({ length: count }, () => valid) };

    expectEqualParsing(message);
    expect(parseByHand(parseStoreEventsRequest, message) === undefined).toBe(count > maxBatchEvents);
  });

  it.each(['id', 'eventId', 'eventType', 'eventSource', 'origin', 'eventData', 'idempotencyKey'])(
    'reports the path of an invalid field: %s',
    (field) => {
      const refused = () => parseStoreEventsRequest({ events: [valid, { ...valid, [field]: 7 }] });

      expect(refused).toThrow(ServiceError);
      expect(refused).toThrow(`events.1.${field}: `);
    },
  );
});

describe(parseStoreEventsReply.name, () => {
  it('reads the outcome `parked` of version 0.1.0 as `dead_lettered`', () => {
    const reply = { outcomes: [{ id: valid.id, outcome: 'parked' }] };

    expect(parseStoreEventsReply(reply)).toEqual({ outcomes: [{ id: valid.id, outcome: 'dead_lettered' }] });
  });
});

describe(estimateEventBytes.name, () => {
  const text = (maxLength: number) => fc.string({ unit: anyCharacter, maxLength, size: 'max' });
  const worst = fc.constantFrom('"', '\\', '\n', '\u0001', '\uffff', '🎉', '\u2028').map((unit) => unit.repeat(255)); // prettier-ignore
  const name = fc.oneof(text(255), worst);
  const data = fc.oneof(
    fc.json({ stringUnit: 'binary' }),
    worst.map((value) => JSON.stringify({ value })),
  );

  it('is never below the size of the event as JSON', () => {
    const event = fc.record({
      id: fc.constant(valid.id),
      eventId: fc.option(name),
      eventType: name,
      eventSource: text(32),
      origin: fc.constantFrom('platform' as const, 'test' as const),
      // Between JSON tokens, escaped line breaks take more bytes too.
      eventData: fc.tuple(data, fc.nat(50)).map(([json, breaks]) => '\n\t'.repeat(breaks) + json),
      idempotencyKey: fc.option(name),
    });
    fc.assert(
      fc.property(event, (plain) => {
        const sent = Buffer.byteLength(JSON.stringify(plain)) + ','.length;
        expect(estimateEventBytes(Object.assign(new NewEvent(), plain))).toBeGreaterThanOrEqual(sent);
      }),
      { numRuns: 500 },
    );
  });
});
