import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { ServiceError } from '../errors.js';
import {
  parseTextFilter,
  textFilters,
  timeFilters,
  toConditions,
  type TextFilterName,
} from './event-filters.js';
import { EventFilters } from './read-events.contract.js';

function faultsOf(filters: object): string[] {
  const options = { whitelist: true, forbidNonWhitelisted: true };
  return validateSync(plainToInstance(EventFilters, filters), options).map(({ property }) => property);
}

describe(parseTextFilter.name, () => {
  const faultsIn = (name: TextFilterName, text: string): unknown => {
    try {
      return parseTextFilter(name, text);
    } catch (error) {
      return error instanceof ServiceError ? error.errors : error;
    }
  };
  const types = (count: number): string[] => Array.from({ length: count }, (_, index) => `type-${index}`);

  it.each<[TextFilterName, string, object]>([
    ['user_id', ' A,b ', { userId: ' A,b ' }],
    ['user_id', '', {}],
    ['channel_id', '47019283', { channelId: '47019283' }],
    ['event_types', 'raid', { eventTypes: ['raid'] }],
    ['event_types', ' a b ,, c\t,\n a b', { eventTypes: ['a b', 'c'] }],
    ['event_types', ' , ,', {}],
    ['event_types', '', {}],
    ['event_types', types(20).join(), { eventTypes: types(20) }],
    ['event_types', `${types(20).join()},,type-0`, { eventTypes: types(20) }],
  ])('parses %s=%j', (name, text, expected) => {
    expect(parseTextFilter(name, text)).toEqual(expected);
  });

  it('rejects more values than a list may have', () => {
    expect(faultsIn('event_types', types(21).join())).toEqual({
      event_types: ['must have at most 20 values, separated by commas'],
    });
  });
});

describe(toConditions.name, () => {
  const printed = (filters: EventFilters): unknown[] =>
    toConditions(filters).map(({ columns, values }) => [columns.map(({ name }) => name), values]);

  it('returns one condition for each filter with a value, in the order of the table', () => {
    expect(
      printed({ channelId: 'C1', eventTypes: ['B', 'a', ''], userName: 'ÄB', origin: '', since: 1 }),
    ).toEqual([
      [['user_name'], ['äb']],
      [['event_type'], ['B', 'a']],
      [['broadcaster_user_id', 'raid_from_id', 'raid_to_id'], ['C1']],
    ]);
  });

  it('returns nothing for empty values', () => {
    expect(printed({ eventTypes: [], channelId: '', eventType: '' })).toEqual([]);
  });
});

describe(EventFilters.name, () => {
  const isList = ({ maxValues }: { maxValues?: number }): boolean => maxValues !== undefined;

  it.each(textFilters.filter((filter) => !isList(filter)))('accepts only text for $field', ({ field }) => {
    expect(faultsOf({ [field]: 'x' })).toEqual([]);
    expect(faultsOf({ [field]: 1 })).toEqual([field]);
    expect(faultsOf({ [field]: ['x'] })).toEqual([field]);
  });

  it.each(textFilters.filter(isList))(
    'accepts only a list of texts for $field',
    ({ field, maxValues = 0 }) => {
      expect(faultsOf({ [field]: [] })).toEqual([]);
      expect(faultsOf({ [field]: Array(maxValues).fill('x') })).toEqual([]);
      expect(faultsOf({ [field]: Array(maxValues + 1).fill('x') })).toEqual([field]);
      expect(faultsOf({ [field]: 'x' })).toEqual([field]);
      expect(faultsOf({ [field]: ['x', 1] })).toEqual([field]);
    },
  );

  it.each(timeFilters)('accepts only milliseconds for $field', ({ field }) => {
    expect(faultsOf({ [field]: 1 })).toEqual([]);
    expect(faultsOf({ [field]: 'x' })).toEqual([field]);
  });

  it('accepts an object without filters, and rejects unknown fields', () => {
    expect(faultsOf({})).toEqual([]);
    expect(faultsOf({ event_type: 'x' })).toEqual(['event_type']);
  });
});
