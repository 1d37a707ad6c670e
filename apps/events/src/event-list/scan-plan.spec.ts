import type { EventFilters, ReadLimits } from '@stream-events/contracts';
import { secondaryIndexes, type IndexReadiness } from '../store/event-indexes.js';
import type { TableStatistics } from './event-statistics.js';
import { planScan, type ScanPlan } from './scan-plan.js';

const none: TableStatistics = new Map();
const allReady: IndexReadiness = { isReady: () => true };

function plan(filters: EventFilters, statistics = none, indexes = allReady): ScanPlan {
  return requirePlan(planScan({ filters, limits: {} }, { statistics, indexes }));
}

function planWithin(limits: ReadLimits, filters: EventFilters = {}, statistics = none): ScanPlan {
  return requirePlan(planScan({ filters, limits }, { statistics, indexes: allReady }));
}

function requirePlan(found: ScanPlan | null): ScanPlan {
  if (!found) throw new Error('no event can match');
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

/** Returns the columns whose indexes drive the scan, and the filters that are checked row by row. */
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
    expect(plan({})).toEqual({ sources: [], values: [], types: null, ranges: 'one', rest: [], restShare: 1 });
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

  it('reads in order when many events have one of the values of a list', () => {
    const channelIds = Array.from({ length: 20 }, (_, n) => `channel-${n}`);
    const common = shares({
      broadcaster_user_id: Object.fromEntries(channelIds.map((id) => [id, 0.005])),
      raid_from_id: {},
      raid_to_id: {},
    });
    const given = { channelId: channelIds } as unknown as EventFilters; // Safe cast: lists of values are read like one value.

    expect(summary(plan(given, common))).toEqual({ by: [], rest: ['channel_id'] });
    expect(summary(plan({ channelId: 'channel-1' }, common)).by).toContain('broadcaster_user_id');
    expect(summary(plan(given)).by).toContain('broadcaster_user_id');
  });

  it('looks up event types for a check of rows unless the types are common', () => {
    const types = { eventTypes: ['a', 'b', 'c'] };
    const sharesOf = (each: number) => shares({ event_type: { a: each, b: each, c: each } });
    const read = (given: EventFilters, each: number): string[] => summary(plan(given, sharesOf(each))).by;

    expect(read({ ...types, origin: 'platform' }, 0.1)).toEqual(['event_type']);
    expect(read({ ...types, origin: 'platform' }, 0.2)).toEqual([]);
    expect(read(types, 0.2)).toEqual(['event_type']);
    expect(read({ eventType: 'a', origin: 'platform' }, 1)).toEqual(['event_type']);
  });

  it('keeps every condition of every pair', () => {
    for (const [one] of filters) {
      for (const [other] of filters.filter(([name]) => name !== one)) {
        const { sources, rest } = plan({ [one]: 'a', [other]: 'b' });
        expect(sources.length + rest.length).toBe(2);
      }
    }
  });

  describe('with limits', () => {
    const texts = (prefix: string, count: number): string[] =>
      Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
    const channelIds = texts('channel', 100);
    const eventTypes = texts('type', 100);
    const limits: ReadLimits = { channelIds, eventTypes };
    /** Returns statistics with these total shares for the channels and types in the limits. */
    const sharesOf = (channels: number, types: number): TableStatistics =>
      shares({
        broadcaster_user_id: Object.fromEntries(channelIds.map((id) => [id, channels / 100])),
        raid_from_id: {},
        raid_to_id: {},
        event_type: Object.fromEntries(eventTypes.map((type) => [type, types / 100])),
        user_id: { bot: 0.3 },
      });
    const outline = (found: ScanPlan): object => ({ ranges: found.ranges, ...summary(found) });
    const channelColumns = ['broadcaster_user_id', 'raid_from_id', 'raid_to_id'];

    it('reads in order when there are more than 20 channels, types, or combinations of both', () => {
      for (const statistics of [none, sharesOf(0.3, 0.9), sharesOf(0.001, 0.001)]) {
        const planOf = (given: ReadLimits): object => outline(planWithin(given, {}, statistics));
        expect(planOf(limits)).toEqual({ ranges: 'one', by: [], rest: ['channel_id', 'event_type'] });
        expect(planOf({ channelIds: texts('channel', 21) })).toEqual({ ranges: 'one', by: [], rest: ['channel_id'] }); // prettier-ignore
        expect(planOf({ eventTypes: texts('type', 21) })).toEqual({ ranges: 'one', by: [], rest: ['event_type'] }); // prettier-ignore
      }
      const few = { channelIds: texts('channel', 2), eventTypes: texts('type', 11) };
      expect(outline(planWithin(few, {}, sharesOf(0.001, 0.9)))).toMatchObject({ by: [] });
    });

    it('reads the rows of up to 20 types when they are rare, and checks the channels', () => {
      expect(outline(planWithin({ channelIds, eventTypes: texts('type', 20) }, {}, sharesOf(0.3, 0.001)))).toEqual({
        ...{ ranges: 'each', by: ['event_type'], rest: ['channel_id'] },
      }); // prettier-ignore
    });

    it('looks up up to 20 channels, types, or combinations of both', () => {
      for (const statistics of [none, sharesOf(0.001, 0.9)]) {
        const planOf = (given: ReadLimits): object => outline(planWithin(given, {}, statistics));
        const both = { channelIds: texts('channel', 4), eventTypes: texts('type', 5) };
        expect(planOf(both)).toEqual({ ranges: 'each', by: channelColumns, rest: [] });
        expect(planOf({ channelIds: texts('channel', 20) })).toEqual({ ranges: 'skipped', by: channelColumns, rest: [] }); // prettier-ignore
        expect(planOf({ eventTypes: texts('type', 20) })).toEqual({ ranges: 'each', by: ['event_type'], rest: [] }); // prettier-ignore
      }
    });

    it('looks up the single value of a filter within any number of types, and checks the channels', () => {
      const byUser = planWithin(limits, { userId: 'a' }, sharesOf(0.3, 0.9));
      expect(outline(byUser)).toEqual({ ranges: 'skipped', by: ['user_id'], rest: ['channel_id'] });
      expect(byUser.types).toEqual(eventTypes);
      expect(outline(planWithin(limits, { userId: 'a', eventType: 'type-7' }, sharesOf(0.3, 0.9)))).toEqual({
        ...{ ranges: 'one', by: ['user_id'], rest: ['channel_id'] },
      });
      expect(outline(planWithin(limits, { raidFrom: 'a' }))).toEqual({
        ...{ ranges: 'each', by: ['raid_from'], rest: ['channel_id'] },
      });
    });

    it('looks up the channel of a filter without a check when it is within the limits', () => {
      for (const filters of [{ channelId: 'channel-7' }, { broadcasterUserId: 'channel-7' }]) {
        const found = planWithin({ channelIds }, filters);
        expect(found).toMatchObject({ values: ['channel-7'], rest: [] });
        expect(planWithin({ channelIds: ['channel-7'] }, filters)).toEqual(found);
      }
      // Only raids between channels a and b match.
      expect(planWithin({ channelIds: ['a'] }, { channelId: 'b' })).toMatchObject({ values: ['b'], rest: [{ values: ['a'] }] }); // prettier-ignore
    });

    it('allows only the types that filters and limits have in common', () => {
      expect(planWithin({ eventTypes: ['a', 'b', 'c', 'a'] }, { eventTypes: ['c', 'a', 'd'] }).types).toEqual(['c', 'a']); // prettier-ignore
      expect(planWithin({ eventTypes: ['a', 'a'] }).types).toEqual(['a']);
    });

    it.each<[ReadLimits, EventFilters]>([
      [{ eventTypes: [] }, {}],
      [{ channelIds: [] }, {}],
      [{ channelIds: [] }, { channelId: 'a' }],
      [{ eventTypes: ['a'] }, { eventType: 'b' }],
    ])('returns null when no event can be within the limits %j and match %j', (given, wanted) => {
      expect(
        planScan({ filters: wanted, limits: given }, { statistics: none, indexes: allReady }),
      ).toBeNull();
    });
  });

  it.each<EventFilters>([
    { userName: 'a\0' },
    { eventType: '\ud83c' },
    { eventType: 'a', eventTypes: ['b', 'c'] },
    { eventTypes: ['\0'] },
  ])('returns null when no event can match: %j', (given) => {
    expect(planScan({ filters: given, limits: {} }, { statistics: none, indexes: allReady })).toBeNull();
  });

  it('treats an empty value as no filter', () => {
    expect(summary(plan({ userId: '', eventTypes: [] }))).toEqual({ by: [], rest: [] });
  });
});
