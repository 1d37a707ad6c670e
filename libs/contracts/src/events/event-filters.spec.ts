import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { eventFilters, textFilters, timeFilters } from './event-filters.js';
import { EventFilters } from './read-events.contract.js';

function faultsOf(filters: object): string[] {
  const options = { whitelist: true, forbidNonWhitelisted: true };
  return validateSync(plainToInstance(EventFilters, filters), options).map(({ property }) => property);
}

const all = Object.values(eventFilters);

describe('eventFilters', () => {
  it('consists of text filters and time filters', () => {
    const names = [...textFilters, ...timeFilters].map(({ name }) => name);

    expect(names).toEqual(Object.keys(eventFilters));
  });

  it('gives each filter its own field and each text filter its own rank', () => {
    expect(new Set(all.map(({ field }) => field)).size).toBe(all.length);
    expect(new Set(textFilters.map(({ rank }) => rank)).size).toBe(textFilters.length);
  });
});

describe(EventFilters.name, () => {
  it.each(textFilters)('accepts only text for $field', ({ field }) => {
    expect(faultsOf({ [field]: 'x' })).toEqual([]);
    expect(faultsOf({ [field]: 1 })).toEqual([field]);
  });

  it.each(timeFilters)('accepts only milliseconds for $field', ({ field }) => {
    expect(faultsOf({ [field]: 1 })).toEqual([]);
    expect(faultsOf({ [field]: 'x' })).toEqual([field]);
  });

  it('accepts an object without filters, and rejects unknown fields', () => {
    expect(faultsOf({})).toEqual([]);
    expect(faultsOf({ event_type: 'x' })).toEqual(['event_type']);
  });
});
