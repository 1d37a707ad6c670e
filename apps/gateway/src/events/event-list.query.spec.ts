import {
  firstIdAt,
  ListEventsRequest,
  printEventRecord,
  ServiceError,
  textFilters,
  type FieldErrors,
} from '@stream-events/contracts';
import { parseMessage } from '@stream-events/messaging';
import { anyCharacter } from '@stream-events/testing';
import fc from 'fast-check';
import { v7 as uuidV7 } from 'uuid';
import { printCursor } from '../paging/cursor.js';
import { parseEventListQuery } from './event-list.query.js';

function errorsOf(parameters: Record<string, string>): FieldErrors | undefined {
  try {
    parseEventListQuery(parameters);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('invalid');
    return error.errors;
  }
}

const sinceOf = (text: string): number | undefined =>
  parseEventListQuery({ since: text }).request.filters.since;
const at = (iso: string): number => Date.parse(iso);

describe(parseEventListQuery.name, () => {
  it('requests the newest 50 events by default', () => {
    expect(parseEventListQuery({}).request).toEqual({ filters: {}, pageSize: 50 });
  });

  it.each(textFilters)(
    'passes $name on unchanged, and a list without spaces',
    ({ name, field, maxValues }) => {
      const value = ' Ünï\0code " ';

      expect(parseEventListQuery({ [name]: value }).request.filters).toEqual({
        [field]: maxValues === undefined ? value : [value.trim()],
      });
    },
  );

  it('treats an empty value as no filter and ignores unknown parameters', () => {
    const parameters = {
      event_type: '',
      event_types: ' ,',
      channel_id: '',
      since: '',
      page_size: '',
      cursor: '',
      constructor: 'a',
      unknown: 'b',
    };

    expect(parseEventListQuery(parameters)).toEqual(parseEventListQuery({}));
  });

  it.each(['0', '101', '-1', '1e1', '0001', '9'.repeat(500)])('rejects a page size of %s', (size) => {
    expect(errorsOf({ page_size: size })).toEqual({ page_size: ['must be a whole number from 1 to 100'] });
  });

  it('reports all errors at once', () => {
    const parameters = {
      page_size: '0',
      since: 'yesterday',
      until: '2026-02-30',
      cursor: 'garbage',
      user_id: '1',
      event_types: [...Array(21).keys()].join(),
    };

    expect(Object.keys(errorsOf(parameters) ?? {}).sort()).toEqual([
      'cursor',
      'event_types',
      'page_size',
      'since',
      'until',
    ]);
  });

  it.each([
    ['2026-11-21', '2026-11-21T00:00:00Z'],
    ['2026-11-21T07:30:15', '2026-11-21T07:30:15Z'],
    ['2026-11-21 07:30:15', '2026-11-21T07:30:15Z'],
    ['2026-11-21t07:30:15z', '2026-11-21T07:30:15Z'],
    ['2026-11-21T07:30:15+02:00', '2026-11-21T05:30:15Z'],
    ['2026-11-21T07:30:15-0930', '2026-11-21T17:00:15Z'],
    // A + that is not percent-encoded arrives as a space.
    ['2026-11-21T07:30:15 0000', '2026-11-21T07:30:15Z'],
    ['2026-11-21T07:30:15.123456 00:00', '2026-11-21T07:30:15.124Z'],
    [' 2026-11-21T07:30:15Z ', '2026-11-21T07:30:15Z'],
    ['2000-02-29T23:59:59Z', '2000-02-29T23:59:59Z'],
    ['2026-12-31T23:59:59.9999Z', '2027-01-01T00:00:00Z'],
    ['2026-11-21T07:30:15.5Z', '2026-11-21T07:30:15.500Z'],
    ['2026-11-21T07:30:15,001Z', '2026-11-21T07:30:15.001Z'],
    ['2026-11-21T07:30:15.000000001Z', '2026-11-21T07:30:15.001Z'],
    ['0001-01-01', '0001-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ])('reads %s as %s', (text, expected) => {
    expect(sinceOf(text)).toBe(at(expected));
  });

  it.each([
    'yesterday',
    '2026-02-30',
    '2026-02-29',
    '1900-02-29T12:00:00Z',
    '2026-13-01',
    '2026-1-1',
    '2026-11-21T25:00:00Z',
    '2026-11-21T07',
    '2026-11-21T07:30:15+',
    '2026-11-21T07:30:15+25:00',
    '2026-11-21T07:30:15.Z',
    '2026-11-21T07:30:15.1234567890Z',
    '+002026-11-21',
    '1763700000000',
    '2026-11-21T07:30:15Z; DROP TABLE events',
    '2026-11-21\u00002026',
    '２０２６-11-21',
  ])('rejects %j as a time', (text) => {
    const fault = ['must be an ISO 8601 time, for example 2026-11-21T07:30:00Z'];

    expect(errorsOf({ since: text })).toEqual({ since: fault });
    expect(errorsOf({ until: text })).toEqual({ until: fault });
  });

  it('accepts any time that JavaScript prints', () => {
    const moment = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(moment, (date) => {
        expect(sinceOf(date.toISOString())).toBe(date.getTime());
      }),
    );
  });

  it.each(['platform', 'test'] as const)('finds an event of origin %s since its own `created`', (origin) => {
    const id = uuidV7();
    const event = { id, eventId: null, eventType: 'a', eventSource: 'b', origin, eventData: '{}' };
    const { created } = JSON.parse(printEventRecord(event)) as { created: string };

    for (const sent of [created, created.replace('+', ' ')]) {
      const since = sinceOf(sent);
      expect(since).toBeDefined();
      expect(firstIdAt(since ?? Infinity) <= id).toBe(true);
    }
  });

  it('describes the list by its filters in use, so that its cursors stay valid when there are more filters', () => {
    const { list } = parseEventListQuery({ since: '2026-11-21', user_id: '', event_type: 'raid' });

    expect(list).toBe('["platform-events",["event_type","raid"],["since","2026-11-21"]]');
  });

  it('accepts its own cursor with the same filters in any order, and with another page size', () => {
    const { list } = parseEventListQuery({ event_type: 'raid', since: '2026-11-21' });
    const position = { direction: 'newer' as const, id: uuidV7(), inclusive: true };
    const cursor = printCursor(position, list);
    const again = { page_size: '7', since: '2026-11-21', unknown: 'x', event_type: 'raid', cursor };

    expect(parseEventListQuery(again).request).toMatchObject({ pageSize: 7, position });
  });

  it('accepts its own cursor with the same event types in another order and spacing', () => {
    const { list } = parseEventListQuery({ event_types: 'raid,channel-raid', channel_id: '1' });
    const cursor = printCursor({ direction: 'older', id: uuidV7(), inclusive: false }, list);
    const parameters = { cursor, channel_id: '1' };

    expect(errorsOf({ ...parameters, event_types: ' channel-raid, raid,,raid' })).toBeUndefined();
    for (const event_types of ['raid', 'raid,channel-raid,x', ''])
      expect(Object.keys(errorsOf({ ...parameters, event_types }) ?? {})).toEqual(['cursor']);
  });

  it.each([
    {},
    { event_type: 'raid2' },
    { event_type: 'raid', user_id: '1' },
    { event_type: 'raid', channel_id: '1' },
    { event_types: 'raid' },
    { user_id: 'raid' },
    { raid_from: 'raid' },
    { event_type: 'raid', since: '2026-11-21' },
  ])('rejects the cursor of another list: %j', (parameters: Record<string, string>) => {
    const { list } = parseEventListQuery({ event_type: 'raid' });
    const cursor = printCursor({ direction: 'older', id: uuidV7(), inclusive: false }, list);

    expect(Object.keys(errorsOf({ ...parameters, cursor }) ?? {})).toEqual(['cursor']);
  });

  it('either makes a request that the events service accepts, or throws a ServiceError that names the parameters', () => {
    const names = [
      ...textFilters.map(({ name }) => name),
      'since',
      'until',
      'page_size',
      'cursor',
      '__proto__',
    ];
    const parameters = fc.array(fc.tuple(fc.constantFrom(...names), fc.string({ unit: anyCharacter })));
    fc.assert(
      fc.property(parameters, (entries) => {
        const parameters = Object.fromEntries(entries);
        const errors = errorsOf(parameters);
        const known = [...textFilters.map(({ name }) => name), 'since', 'until', 'page_size', 'cursor'];
        for (const name of Object.keys(errors ?? {})) expect(known).toContain(name);
        if (errors) return;
        const request = { ...parseEventListQuery(parameters).request, limits: {} };
        expect(() => parseMessage(ListEventsRequest, JSON.parse(JSON.stringify(request)))).not.toThrow();
      }),
    );
  });
});
