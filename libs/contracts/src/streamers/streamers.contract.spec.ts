import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { ServiceError } from '../errors.js';
import { ListStreamersReply, parseListStreamersReply } from './streamers.contract.js';

const streamer = {
  id: '018df751-3003-7abc-8def-0123456789ab',
  platformUsername: 'Mira_Plays',
  platformId: '47019283',
  streaming: true,
  disabled: false,
  createdAt: 1_763_700_000_000,
  updatedAt: 1_763_700_000_001,
};

/** Parses with the decorators. Returns undefined if they reject the message. */
function parseByClass(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return undefined;
  const instance = plainToInstance(ListStreamersReply, message);
  const faults = validateSync(instance, { whitelist: true, forbidUnknownValues: true });
  if (faults.length > 0) return undefined;
  // A missing `next` also means the end.
  return JSON.parse(JSON.stringify({ ...instance, next: instance.next ?? null }));
}

function parseByHand(message: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(parseListStreamersReply(message)));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error).toMatchObject({ code: 'invalid', errors: expect.any(Object) as unknown });
    return undefined;
  }
}

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.double(),
  fc.constantFrom(
    undefined,
    streamer.id,
    `${streamer.id}\n`,
    '00000000-0000-0000-0000-000000000000',
    1.5,
    '1',
  ),
);
const nearStreamer = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom(...Object.keys(streamer), 'extra'), anyValue).map(([field, value]) => ({ ...streamer, [field]: value })) }, // prettier-ignore
  { weight: 2, arbitrary: fc.constant(streamer) },
  { weight: 1, arbitrary: fc.constantFrom(null, [], [streamer], {}, 'x') },
);
const nearReply = fc.record(
  { streamers: fc.oneof({ weight: 9, arbitrary: fc.array(nearStreamer, { maxLength: 3 }) }, anyValue), next: anyValue }, // prettier-ignore
  { requiredKeys: [] },
);

describe(parseListStreamersReply.name, () => {
  it('accepts and rejects the same messages as the classes, with the same results', () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: nearReply }, anyValue), (message) => {
        expect(parseByHand(message)).toEqual(parseByClass(message));
      }),
      { numRuns: 3_000 },
    );
  });

  it('accepts a page and drops unknown fields', () => {
    const message = { streamers: [{ ...streamer, extra: 1 }, streamer], next: streamer.id, extra: 2 };

    expect(parseListStreamersReply(message)).toEqual({ streamers: [streamer, streamer], next: streamer.id });
  });

  it.each(Object.keys(streamer))('reports the path of an invalid field: %s', (field) => {
    const message = { streamers: [streamer, { ...streamer, [field]: {} }], next: null };

    expect(() => parseListStreamersReply(message)).toThrow(`streamers.1.${field}: `);
  });
});
