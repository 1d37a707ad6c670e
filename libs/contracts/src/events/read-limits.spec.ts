import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { Contract } from '../contract.js';
import { compileConditions, type FilteredFields } from './event-filters.js';
import { getEvent } from './read-events.contract.js';
import { IsReadLimits, toLimitConditions, type ReadLimits } from './read-limits.js';

const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `text-${index}`);

function faultsIn({ request: type }: Contract<object, object>, request: object): string[] {
  const faults = validateSync(plainToInstance(type, request), { whitelist: true });
  return faults.flatMap(({ property, constraints, children = [] }) =>
    constraints ? [property] : children.map((child) => `${property}.${child.property}`),
  );
}

describe(IsReadLimits.name, () => {
  it.each<[object, string[]]>([
    [{}, ['limits']],
    [{ limits: null }, ['limits']],
    [{ limits: [] }, ['limits']],
    [{ limits: 'all' }, ['limits']],
    [{ limits: {} }, []],
    [{ limits: { eventTypes: texts(100), channelIds: texts(100) } }, []],
    [{ limits: { eventTypes: texts(101) } }, ['limits.eventTypes']],
    [{ limits: { channelIds: texts(101) } }, ['limits.channelIds']],
    [{ limits: { eventTypes: 'a', channelIds: ['a', 7] } }, ['limits.eventTypes', 'limits.channelIds']],
    [
      { limits: { eventTypes: [''], channelIds: ['a'.repeat(256)] } },
      ['limits.eventTypes', 'limits.channelIds'],
    ],
    [{ limits: { channelIds: ['a\0'] } }, ['limits.channelIds']],
    [{ limits: { channelIds: ['a'], userIds: ['a'] } }, ['limits']],
  ])('validates limits in addition to the request, case %#', (fields, faults) => {
    expect(faultsIn(getEvent, { id: '1', ...fields })).toEqual(faults);
    expect(faultsIn(getEvent, fields)).toEqual(['id', ...faults]);
  });
});

describe(toLimitConditions.name, () => {
  const follow: FilteredFields = {
    ...{ eventType: 'follow', eventSource: 'PlatformSub', origin: 'platform', eventId: null },
    ...{ userId: 'c3', userName: null, rewardId: null, raidFrom: null, raidTo: null },
    ...{ broadcasterUserId: 'c1', raidFromId: null, raidToId: null },
  };
  const raid: FilteredFields = { ...follow, eventType: 'raid', broadcasterUserId: null, raidFromId: 'c1', raidToId: 'c2' }; // prettier-ignore
  const sees = (limits: ReadLimits, event = follow): boolean =>
    compileConditions(toLimitConditions(limits))(event);

  it('lets a reader without limits see every event', () => {
    expect(sees({})).toBe(true);
  });

  it.each<[ReadLimits, boolean]>([
    [{ eventTypes: ['x', 'follow'] }, true],
    [{ eventTypes: ['Follow'] }, false],
    [{ channelIds: ['c2', 'c1'] }, true],
    [{ channelIds: ['c3'] }, false],
    [{ eventTypes: ['follow'], channelIds: ['c1'] }, true],
    [{ eventTypes: ['follow'], channelIds: ['c2'] }, false],
    [{ eventTypes: ['raid'], channelIds: ['c1'] }, false],
  ])('with %j, lets a reader see a follow of channel c1: %s', (limits, expected) => {
    expect(sees(limits)).toBe(expected);
  });

  it('lets a reader see the raids from and to a channel', () => {
    const ofChannel = (id: string): boolean => sees({ channelIds: ['other', id] }, raid);
    expect(['c1', 'c2', 'c3'].map(ofChannel)).toEqual([true, true, false]);
  });

  it('lets a reader with an empty list see nothing', () => {
    expect([sees({ eventTypes: [] }), sees({ channelIds: [] }), sees({ channelIds: [] }, raid)]).toEqual([
      false,
      false,
      false,
    ]);
  });
});
