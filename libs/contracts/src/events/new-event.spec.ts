import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { ServiceError } from '../errors.js';
import { NewEvent, parseNewEvent } from './new-event.js';

const valid = {
  id: '018df751-3003-7abc-8def-0123456789ab',
  eventId: 'message-1',
  eventType: 'channel-follow',
  eventSource: 'PlatformSub',
  origin: 'platform',
  eventData: '{}',
  idempotencyKey: null,
  occurredAt: 1_764_000_000_123,
  delivery: { subscription: '["channel.follow","2",["user_id","7"]]' },
};

/** Parses with the decorators. Returns undefined if they reject the message. */
function parseByClass(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return undefined;
  const instance = plainToInstance(NewEvent, message);
  const faults = validateSync(instance, { whitelist: true, forbidUnknownValues: true });
  return faults.length > 0 ? undefined : JSON.parse(JSON.stringify(instance));
}

/** Parses by hand. Rejections must be `invalid` errors that name the fields. */
function parseByHand(message: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(parseNewEvent(message)));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error).toMatchObject({ code: 'invalid', errors: expect.any(Object) as unknown });
    return undefined;
  }
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
/** Parses by hand and with the decorators. Both must have the same result. */
function expectEqualParsing(message: unknown): void {
  expect(parseByHand(message)).toEqual(parseByClass(message));
}

describe(parseNewEvent.name, () => {
  it('accepts and rejects the same near-valid events as the class, with the same results', () => {
    fc.assert(fc.property(nearEvent, expectEqualParsing), { numRuns: 4_000 });
  });

  it('accepts and rejects the same arbitrary JSON as the class', () => {
    const junk = fc.oneof(
      fc.jsonValue(),
      fc.constant(undefined),
      fc.dictionary(fc.constantFrom(...Object.keys(valid), '__proto__', 'length'), fc.jsonValue()),
    );
    fc.assert(fc.property(junk, expectEqualParsing), { numRuns: 1_000 });
  });
});
