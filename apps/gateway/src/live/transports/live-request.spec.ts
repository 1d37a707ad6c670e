import { firstIdAt, ServiceError, textFilters, type FieldErrors } from '@stream-events/contracts';
import fc from 'fast-check';
import { parseLiveFields, readLiveMessage, readLiveQuery, type LiveFields } from './live-request.js';
import { compileFilter, describeFilter } from '../connections/live-filter.js';
import { maxEventTypes } from '../live-limits.js';
import { LiveEvent } from '../stream/live-event.js';

const path = '/ws/platform-events';

function errorsOf(fields: LiveFields): FieldErrors | undefined {
  try {
    parseLiveFields(fields);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('invalid');
    return error.errors;
  }
}

describe(readLiveQuery.name, () => {
  it('reads all event types, and the last value of a repeated text parameter', () => {
    expect(readLiveQuery(`${path}?event_type=a&user_id=1&event_type=b%20c&user_id=2`)).toEqual({
      event_type: ['a', 'b c'],
      user_id: '2',
    });
  });

  it('reads flags as booleans', () => {
    expect(readLiveQuery(`${path}?positions=true&keep_alive=false`)).toEqual({
      positions: true,
      keep_alive: false,
    });
    expect(errorsOf(readLiveQuery(`${path}?positions=1&keep_alive=TRUE`))).toEqual({
      positions: ['must be true or false'],
      keep_alive: ['must be true or false'],
    });
  });

  it('reads nothing from a URL without a query or with an empty one', () => {
    expect(readLiveQuery(path)).toEqual({});
    expect(parseLiveFields(readLiveQuery(`${path}?event_type=&since=&after=&name=&positions=`))).toEqual(
      parseLiveFields({}),
    );
  });

  it.each(['?token=a', '?token', '?a=b&token=', '?tok%65n=a'])('rejects a token in %s', (query) => {
    expect(() => readLiveQuery(path + query)).toThrow(/URLs are logged/);
  });
});

describe(readLiveMessage.name, () => {
  it.each(['', '{', 'null', '1', '"a"', '[]', '['.repeat(16_000)])('is undefined for %j', (text) => {
    expect(readLiveMessage(text)).toBeUndefined();
  });

  it('returns the fields of an object', () => {
    expect(readLiveMessage(' {"token": "a", "user_id": 7} ')).toEqual({ token: 'a', user_id: 7 });
  });
});

describe(parseLiveFields.name, () => {
  it('requests all new events by default', () => {
    expect(parseLiveFields({ token: 'a', unknown: {} })).toEqual({
      request: { filter: {}, after: undefined, name: undefined, keepAlive: false, controls: false },
      positions: false,
    });
  });

  it.each([
    ['a', ['a']],
    [['a'], ['a']],
    [
      ['a', '', 'b', null],
      ['a', 'b'],
    ],
    [Array.from({ length: maxEventTypes }, String), Array.from({ length: maxEventTypes }, String)],
  ])('accepts the event types %j', (given, eventType) => {
    expect(parseLiveFields({ event_type: given }).request.filter).toEqual({ eventType });
  });

  it('reads times, positions and flags', () => {
    const fields = {
      since: '2026-11-21',
      until: '2026-11-22T00:00:00 0000',
      after: 'garbage',
      positions: true,
      keep_alive: true,
      name: ' ö ',
    };

    expect(parseLiveFields(fields)).toEqual({
      request: {
        filter: { since: Date.parse('2026-11-21T00:00Z'), until: Date.parse('2026-11-22T00:00Z') },
        after: 'garbage',
        keepAlive: true,
        controls: false,
        name: 'ö',
      },
      positions: true,
    });
  });

  it.each(['', null, undefined, []])('reads %j as no event type', (value) => {
    expect(parseLiveFields({ event_type: value })).toEqual(parseLiveFields({}));
  });

  it.each(['', null, undefined])('ignores the value %j', (value) => {
    const names = [
      ...textFilters.map(({ name }) => name),
      'since',
      'until',
      'after',
      'name',
      'positions',
      'keep_alive',
    ];

    expect(parseLiveFields(Object.fromEntries(names.map((name) => [name, value])))).toEqual(
      parseLiveFields({}),
    );
  });

  it('reports all errors at once', () => {
    const time = 'must be an ISO 8601 time, for example 2026-11-21T07:30:00Z';

    expect(
      errorsOf({
        event_type: ['a', 1],
        event_types: [...Array(21).keys()].join(),
        channel_id: ['47019283'],
        user_id: 1,
        origin: ['platform'],
        since: 1_763_700_000_000,
        until: 'tomorrow',
        after: {},
        name: 'x'.repeat(256),
        positions: 'true',
        keep_alive: 1,
      }),
    ).toEqual({
      event_type: ['must be text or a list of text values'],
      event_types: ['must have at most 20 values, separated by commas'],
      channel_id: ['must be text'],
      user_id: ['must be text'],
      origin: ['must be text'],
      since: [time],
      until: [time],
      after: ['must be text'],
      name: ['must be text of 1 to 255 characters'],
      positions: ['must be true or false'],
      keep_alive: ['must be true or false'],
    });
  });

  it('rejects too many event types', () => {
    const event_type = Array.from({ length: maxEventTypes + 1 }, String);

    expect(errorsOf({ event_type })).toEqual({ event_type: ['must have at most 100 event types'] });
  });

  it.each(['a\0', '\ud800', 'x'.repeat(256)])('rejects the name %j', (name) => {
    expect(Object.keys(errorsOf({ name }) ?? {})).toEqual(['name']);
  });

  it('either returns a filter that works, or throws a ServiceError that names the fields', () => {
    const names = [
      ...textFilters.map(({ name }) => name),
      'since',
      'until',
      'after',
      'name',
      'positions',
      'keep_alive',
    ];
    const event = new LiveEvent(firstIdAt(0), Buffer.from('{}'), '1a2b3c4d', 1);
    const fields = fc.dictionary(fc.constantFrom(...names, '__proto__', 'toString'), fc.jsonValue());
    fc.assert(
      fc.property(fields, (given) => {
        const errors = errorsOf(given);
        for (const name of Object.keys(errors ?? {})) expect(names).toContain(name);
        if (errors) return;
        const { filter } = parseLiveFields(given).request;
        expect(describeFilter(filter)).toEqual(expect.any(String));
        expect([undefined, true, false]).toContain(compileFilter(filter)?.(event));
      }),
    );
  });
});
