import { IsArray, IsInt, IsObject, IsOptional, IsString, MaxLength, ValidateNested } from 'class-validator';
import { Type } from 'class-transformer';
import * as declared from '@stream-events/contracts';
import { getEvent, listEvents, ServiceError, type Contract } from '@stream-events/contracts';
import { nearJson } from '@stream-events/testing';
import fc from 'fast-check';
import { parseMessage, parseRequest } from './parse-message.js';

class Item {
  @IsString()
  @MaxLength(3)
  name!: string;
}

class Order {
  @IsInt()
  count!: number;

  @IsOptional()
  @IsString()
  note?: string;

  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => Item)
  items!: Item[];
}

const contracts = Object.values(declared).filter(isContract);

function isContract(value: unknown): value is Contract<object, object> {
  return typeof value === 'object' && value !== null && 'subject' in value && 'request' in value;
}

/** Payloads that are no JSON never reach `parseRequest`. */
function parseOrNull(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}

function refusalOf(parse: () => unknown): ServiceError {
  try {
    parse();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe(parseMessage.name, () => {
  it('creates instances of the classes, including nested ones', () => {
    const order = parseMessage(Order, { count: 2, items: [{ name: 'a' }] });

    expect(order).toBeInstanceOf(Order);
    expect(order.items[0]).toBeInstanceOf(Item);
    expect(order).toEqual({ count: 2, items: [{ name: 'a' }] });
  });

  it('drops unknown fields at every depth', () => {
    const message = JSON.parse(
      '{"count":1,"items":[{"name":"a","more":1}],"added":{"by":"a newer version"},"__proto__":{"note":"x"}}',
    ) as unknown;

    const order = parseMessage(Order, message);

    expect(order).toEqual({ count: 1, items: [{ name: 'a' }] });
    expect(order.note).toBeUndefined();
  });

  it('lists every error by field, without the name of the field in the message', () => {
    const refusal = refusalOf(() =>
      parseMessage(Order, { count: '1', note: 7, items: [{ name: 'a' }, { name: 4711 }, 'x'] }),
    );

    expect(refusal.code).toBe('invalid');
    expect(refusal.errors).toMatchObject({
      count: ['must be an integer number'],
      note: ['must be a string'],
      'items.1.name': expect.arrayContaining(['must be a string']) as unknown,
    });
    expect(refusal.detail).toContain('count: must be an integer number; note: must be a string; ');
  });

  it.each([undefined, null, 'text', 7, true, [], [{ count: 1, items: [] }]])('rejects %j', (message) => {
    expect(refusalOf(() => parseMessage(Order, message))).toMatchObject({
      code: 'invalid',
      detail: 'The message must be a JSON object.',
    });
  });
});

describe(parseRequest.name, () => {
  const id = '018df751-3003-7abc-8def-0123456789ab';
  const position = { direction: 'older', id, inclusive: false };
  const least = { filters: {}, limits: {}, pageSize: 1 };

  it.each<[string, object]>([
    ['the least', { ...least }],
    ['filters and a position', { ...least, filters: { eventType: 'x', since: 0 }, position }],
    ['a position at a made-up id', { ...least, position: { ...position, id: '00000000-0000-0000-0000-000000000000' } }], // prettier-ignore
  ])('accepts a request for a list with %s', (_, request) => {
    expect(parseRequest(listEvents, request)).toEqual(request);
  });

  it.each<[string, object, string]>([
    ['no filters', { ...least, filters: undefined }, 'filters'],
    ['null as filters', { ...least, filters: null }, 'filters'],
    ['a list as filters', { ...least, filters: [] }, 'filters'],
    ['a number as a filter', { ...least, filters: { userId: 1 } }, 'filters.userId'],
    ['a fraction as a time', { ...least, filters: { until: 1.5 } }, 'filters.until'],
    ['no page size', { ...least, pageSize: undefined }, 'pageSize'],
    ['an empty page', { ...least, pageSize: 0 }, 'pageSize'],
    ['a page that is too large', { ...least, pageSize: 101 }, 'pageSize'],
    ['a list as position', { ...least, position: [] }, 'position'],
    ['half a position', { ...least, position: { id } }, 'position.direction'],
    ['another direction', { ...least, position: { ...position, direction: 'up' } }, 'position.direction'], // prettier-ignore
    ['a position at no id', { ...least, position: { ...position, id: 'x' } }, 'position.id'],
  ])('rejects a request for a list with %s', (_, request, field) => {
    const refusal = refusalOf(() => parseRequest(listEvents, request));

    expect(Object.keys(refusal.errors ?? {})).toContain(field);
  });

  it.each<[string, string]>([
    ['a member named constructor', '{"id":{"constructor":{"prototype":{}}},"limits":{}}'],
    ['a constructor that is null', '{"id":{"constructor":null},"limits":{}}'],
    ['a member named __proto__', '{"id":{"__proto__":{"x":1}},"limits":{}}'],
    [
      'nesting that is deeper than the stack',
      `{"id":${'['.repeat(50_000)}${']'.repeat(50_000)},"limits":{}}`,
    ],
  ])('rejects a request with %s', (_, text) => {
    expect(refusalOf(() => parseRequest(getEvent, JSON.parse(text))).code).toBe('invalid');
  });

  it('either reads a request of any contract, or throws a ServiceError that can be sent', () => {
    // Members of many requests, so that a part of the inputs is accepted.
    const valid = {
      ...{ ...least, position, id, ids: [id], usernames: ['mira'], userIds: ['1'], platformUserId: '1' },
      ...{
        type: 'channel.follow',
        active: true,
        streamerId: id,
        streamId: '1',
        channelId: '1',
        from: 0,
        to: 1,
      },
    };
    const refused = new Set<string>();
    const accepted = new Set<string>();
    fc.assert(
      fc.property(fc.constantFrom(...contracts), nearJson(valid), (contract, message) => {
        const bytes = Buffer.from(message);
        const request: unknown = contract.rawRequest ? bytes : parseOrNull(bytes);
        try {
          expect(parseRequest(contract, request)).toEqual(expect.any(Object));
          accepted.add(contract.subject);
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          expect(JSON.parse(JSON.stringify(error.toMessage()))).toMatchObject({ code: 'invalid' });
          expect(error.detail).toMatch(/./);
          refused.add(contract.subject);
        }
      }),
      { numRuns: 50 * contracts.length },
    );
    expect(refused.size).toBe(contracts.length);
    expect(accepted.size).toBeGreaterThan(contracts.length / 2);
  });

  it.each([7, '', 'a\0b', 'x'.repeat(256)])(
    'rejects a request for an event by %j, which is not an id',
    (id) => {
      expect(refusalOf(() => parseRequest(getEvent, { id, limits: {} })).errors).toHaveProperty('id');
    },
  );
});
