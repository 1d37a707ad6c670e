import type { EventFilters } from '@stream-events/contracts';
import { planEventScan } from './event-scan.js';

const filters: [keyof EventFilters, string, string][] = [
  ['eventType', 'event_type', 'AbC'],
  ['userId', 'user_id', 'abc'],
  ['userName', 'user_name', 'abc'],
  ['rewardId', 'reward_id', 'abc'],
  ['raidFrom', 'raid_from', 'abc'],
  ['raidTo', 'raid_to', 'abc'],
  ['broadcasterUserId', 'broadcaster_user_id', 'AbC'],
  ['origin', 'origin', 'AbC'],
  ['eventSource', 'event_source', 'AbC'],
  ['eventId', 'event_id', 'AbC'],
];

function columnsOf(conditions: { column: string }[]): string[] {
  return conditions.map((condition) => condition.column);
}

describe(planEventScan.name, () => {
  it('scans all events when there are no filters', () => {
    expect(planEventScan({})).toEqual({ driving: [], rest: [] });
  });

  it.each(filters)(
    'uses an index for %s alone, on the folded value when the filter ignores case',
    (name, column, value) => {
      expect(planEventScan({ [name]: 'AbC' })).toMatchObject({ driving: [{ column, value }], rest: [] });
    },
  );

  it.each(filters)('treats an empty %s as no filter', (name) => {
    expect(planEventScan({ [name]: '' })).toEqual({ driving: [], rest: [] });
  });

  it.each(['userId', 'userName', 'broadcasterUserId'] as const)(
    'uses the combined index for event_type with %s',
    (name) => {
      const { driving, rest } = planEventScan({ eventType: 'raid', [name]: 'x' });

      expect(driving).toHaveLength(2);
      expect(columnsOf(driving)[0]).toBe('event_type');
      expect(rest).toEqual([]);
    },
  );

  it.each([
    [{ eventType: 'a', rewardId: 'b' }, ['reward_id'], ['event_type']],
    [{ eventType: 'a', raidFrom: 'b', raidTo: 'c' }, ['raid_from'], ['event_type', 'raid_to']],
    [{ userId: 'a', userName: 'b' }, ['user_id'], ['user_name']],
    [
      { eventType: 'a', userId: 'b', broadcasterUserId: 'c' },
      ['event_type', 'user_id'],
      ['broadcaster_user_id'],
    ],
    [{ origin: 'a', eventSource: 'b' }, ['event_source'], ['origin']],
    [{ origin: 'a', eventId: 'b' }, ['event_id'], ['origin']],
  ])(
    'lets the most selective condition of %j drive the scan and checks the rest row by row',
    (given, driving, rest) => {
      const scan = planEventScan(given);

      expect(columnsOf(scan.driving)).toEqual(driving);
      expect(columnsOf(scan.rest).sort()).toEqual([...rest].sort());
    },
  );

  it('keeps both conditions of every pair', () => {
    for (const [one, oneColumn] of filters) {
      for (const [other, otherColumn] of filters) {
        const { driving, rest } = planEventScan({ [one]: 'a', [other]: 'b' });
        expect(new Set(columnsOf([...driving, ...rest]))).toEqual(new Set([oneColumn, otherColumn]));
      }
    }
  });

  it('leaves time filters to the range of ids', () => {
    expect(planEventScan({ since: 1, until: 2 })).toEqual({ driving: [], rest: [] });
  });
});
