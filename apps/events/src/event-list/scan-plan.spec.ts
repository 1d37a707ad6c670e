import type { EventFilters } from '@stream-events/contracts';
import { secondaryIndexes, type IndexReadiness } from '../store/event-indexes.js';
import type { TableStatistics } from './event-statistics.js';
import { planScan, type ScanPlan } from './scan-plan.js';

const none: TableStatistics = new Map();
const allReady: IndexReadiness = { isReady: () => true };

function plan(filters: EventFilters, statistics = none, indexes = allReady): ScanPlan {
  const found = planScan(filters, { statistics, indexes });
  if (!found) throw new Error('the filters match nothing');
  return found;
}

function shares(columns: Record<string, Record<string, number>>): TableStatistics {
  return new Map(
    Object.entries(columns).map(([column, values]) => [
      column,
      { shares: new Map(Object.entries(values)), otherShare: 0.000_001 },
    ]),
  );
}

/** The columns whose indexes drive the scan, and the filters that are checked row by row. */
function summary({ sources, rest }: ScanPlan): { by: string[]; rest: string[] } {
  return {
    by: sources.map(({ index }) => index.column),
    rest: rest.map(({ filter }) => filter.name).sort(),
  };
}

const filters: [keyof EventFilters, string, string][] = [
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

describe(planScan.name, () => {
  it('reads all events in order when there are no filters', () => {
    expect(plan({})).toEqual({ sources: [], values: [], types: null, rest: [], restShare: 1 });
    expect(plan({ since: 1, until: 2 })).toMatchObject({ sources: [], rest: [] });
  });

  it.each(filters)(
    'uses the index for %s alone, on the folded value when the filter ignores case',
    (name, column, value) => {
      const found = plan({ [name]: 'AbC' });

      expect(summary(found)).toEqual({ by: [column], rest: [] });
      expect(found.values).toEqual([value]);
      expect(found.types).toBeNull();
    },
  );

  it.each(filters.filter(([name]) => name !== 'eventId'))(
    'looks up %s together with the event types',
    (name, column) => {
      const found = plan({ [name]: 'AbC', eventTypes: ['b', 'a', 'c'], eventType: 'a' });

      expect(summary(found)).toEqual({ by: [column], rest: [] });
      expect(found.types).toEqual(['a']);
    },
  );

  it('looks up event types alone', () => {
    const found = plan({ eventTypes: ['a', 'b'] });

    expect(summary(found)).toEqual({ by: ['event_type'], rest: [] });
    expect(found).toMatchObject({ values: [], types: ['a', 'b'] });
  });

  it('looks up the three columns of a channel, and only raids where only raids can match', () => {
    const { sources } = plan({ channelId: '4711' });

    expect(sources.map(({ index, types }) => [index.column, types])).toEqual([
      ['broadcaster_user_id', undefined],
      ['raid_from_id', ['raid', 'channel-raid']],
      ['raid_to_id', ['raid', 'channel-raid']],
    ]);
  });

  it.each([{ origin: 'platform' }, { eventSource: 'PlatformSub' }])(
    'reads in order for a value that nearly every event has: %j',
    (given) => {
      expect(summary(plan(given))).toEqual({ by: [], rest: [expect.any(String)] });
    },
  );

  it('checks event types row by row when the event_id is given', () => {
    expect(summary(plan({ eventId: 'x', eventType: 'raid', userId: '1' }))).toEqual({
      by: ['event_id'],
      rest: ['event_type', 'user_id'],
    });
  });

  it('lets the rarest condition drive the scan, and estimates how many rows meet the rest', () => {
    const statistics = shares({ user_id: { bot: 0.3 }, broadcaster_user_id: { small: 0.001, large: 0.4 } });

    const small = plan({ userId: 'bot', broadcasterUserId: 'small' }, statistics);
    expect(summary(small)).toEqual({ by: ['broadcaster_user_id'], rest: ['user_id'] });
    expect(small.restShare).toBeCloseTo(0.3);
    const large = plan({ userId: 'bot', broadcasterUserId: 'large' }, statistics);
    expect(summary(large)).toEqual({ by: ['user_id'], rest: ['broadcaster_user_id'] });
    expect(large.restShare).toBeCloseTo(0.4);
    expect(summary(plan({ userId: 'viewer', broadcasterUserId: 'small' }, statistics)).by).toEqual([
      'user_id',
    ]);
  });

  it('keeps a fixed order without statistics', () => {
    expect(summary(plan({ broadcasterUserId: 'a', origin: 'test', userId: 'b' }))).toEqual({
      by: ['user_id'],
      rest: ['broadcaster_user_id', 'origin'],
    });
  });

  it('does not use an index that is not ready', () => {
    const unless = (missing: string) => ({ isReady: (name: string) => name !== missing });
    const nameOf = (column: string) => secondaryIndexes.find((index) => index.column === column)?.name ?? '';

    const withoutUsers = unless(nameOf('user_id'));
    expect(summary(plan({ userId: 'a' }, none, withoutUsers))).toEqual({ by: [], rest: ['user_id'] });
    expect(summary(plan({ userId: 'a', eventType: 'b' }, none, withoutUsers))).toEqual({ by: ['event_type'], rest: ['user_id'] }); // prettier-ignore
    // A channel needs all of its three indexes.
    expect(summary(plan({ channelId: 'a' }, none, unless(nameOf('raid_to_id'))))).toEqual({ by: [], rest: ['channel_id'] }); // prettier-ignore
    expect(summary(plan({ eventType: 'a' }, none, unless(nameOf('event_type'))))).toEqual({ by: [], rest: ['event_type'] }); // prettier-ignore
  });

  it('reads in order when reading is cheaper than looking up a long list of common values', () => {
    const channelIds = Array.from({ length: 100 }, (_, n) => `channel-${n}`);
    const common = shares({
      broadcaster_user_id: Object.fromEntries(channelIds.map((id) => [id, 0.005])),
      raid_from_id: {},
      raid_to_id: {},
    });
    const given = { channelId: channelIds } as unknown as EventFilters; // holds: lists of values are read like one value

    expect(summary(plan(given, common))).toEqual({ by: [], rest: ['channel_id'] });
    expect(summary(plan({ channelId: 'channel-1' }, common)).by).toContain('broadcaster_user_id');
    expect(summary(plan(given)).by).toContain('broadcaster_user_id');
  });

  it('keeps every condition of every pair', () => {
    for (const [one] of filters) {
      for (const [other] of filters.filter(([name]) => name !== one)) {
        const { sources, rest } = plan({ [one]: 'a', [other]: 'b' });
        expect(sources.length + rest.length).toBe(2);
      }
    }
  });

  it.each<EventFilters>([
    { userName: 'a\0' },
    { eventType: '\ud83c' },
    { eventType: 'a', eventTypes: ['b', 'c'] },
    { eventTypes: ['\0'] },
  ])('returns null when no event can match: %j', (given) => {
    expect(planScan(given, { statistics: none, indexes: allReady })).toBeNull();
  });

  it('treats an empty value as no filter', () => {
    expect(summary(plan({ userId: '', eventTypes: [] }))).toEqual({ by: [], rest: [] });
  });
});
