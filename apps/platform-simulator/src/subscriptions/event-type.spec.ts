import { eventTypeRows } from './event-types.js';
import { simulatedTypes } from '../world/world.js';
import { costOf, createCondition, findConditionFault, findEventType } from './event-type.js';
import { conditionKey, matchesCondition } from './subscription.js';

function rowOf(type: string, version?: string) {
  const row = findEventType(type, version);
  if (!row) throw new Error(`no row for ${type}`);
  return row;
}

describe('eventTypeRows', () => {
  it('has the 83 types and versions of the platform, each once', () => {
    expect(new Set(eventTypeRows.map(({ type, version }) => `${type}/${version}`)).size).toBe(83);
  });

  it('has every type that is simulated', () => {
    for (const { type, version } of simulatedTypes) expect(findEventType(type, version)).toBeDefined();
  });
});

describe(findEventType.name, () => {
  it('finds the newest version when none is named', () => {
    expect(findEventType('channel.moderate')?.version).toBe('2');
  });

  it('is undefined when the version was withdrawn', () => {
    expect(findEventType('channel.follow', '1')).toBeUndefined();
  });
});

describe(findConditionFault.name, () => {
  it.each([
    ['channel.cheer', { broadcaster_user_id: '1' }],
    ['channel.follow', { broadcaster_user_id: '1', moderator_user_id: '1' }],
    ['channel.raid', { to_broadcaster_user_id: '1' }],
    ['channel.raid', { from_broadcaster_user_id: '1' }],
    ['channel.channel_points_custom_reward_redemption.add', { broadcaster_user_id: '1', reward_id: 'r' }],
  ])('finds none for %s with %j', (type, condition) => {
    expect(findConditionFault(rowOf(type), condition)).toBeNull();
  });

  it.each([
    ['channel.cheer', {}, 'condition.broadcaster_user_id is missing'],
    ['channel.cheer', { broadcaster_user_id: 1 }, 'condition.broadcaster_user_id must be text'],
    ['channel.cheer', { broadcaster_user_id: '' }, 'condition.broadcaster_user_id must be text'],
    ['channel.cheer', { broadcaster_user_id: '1', user: '1' }, 'unknown key user'],
    ['channel.follow', { broadcaster_user_id: '1' }, 'condition.moderator_user_id is missing'],
    ['channel.raid', {}, 'exactly one of'],
    ['channel.raid', { from_broadcaster_user_id: '1', to_broadcaster_user_id: '2' }, 'exactly one of'],
  ])('tells what is wrong with %s and %j', (type, condition, fault) => {
    expect(findConditionFault(rowOf(type), condition)).toContain(fault);
  });
});

describe(createCondition.name, () => {
  it.each(eventTypeRows.map((row) => [row.type, row] as const))(
    'makes a valid condition for %s',
    (_, row) => {
      expect(findConditionFault(row, createCondition(row, '1'))).toBeNull();
    },
  );
});

describe(costOf.name, () => {
  it('is 1 without and 0 with the need for consent', () => {
    expect([costOf(rowOf('stream.online')), costOf(rowOf('channel.follow'))]).toEqual([1, 0]);
  });
});

describe(conditionKey.name, () => {
  it('does not depend on the order of keys', () => {
    expect(conditionKey({ a: '1', b: '2' })).toBe(conditionKey({ b: '2', a: '1' }));
  });
});

describe(matchesCondition.name, () => {
  const event = { broadcaster_user_id: '1', user_id: '7', reward: { id: 'r' } };

  it.each([
    [{ broadcaster_user_id: '1' }, true],
    [{ broadcaster_user_id: '2' }, false],
    [{ broadcaster_user_id: '1', reward_id: 'r' }, true],
    [{ broadcaster_user_id: '1', reward_id: 'other' }, false],
    [{ broadcaster_user_id: '1', user_id: 'who listens' }, true],
    [{ to_broadcaster_user_id: '1' }, false],
  ])('is for %j: %s', (condition, expected) => {
    expect(matchesCondition(condition as Record<string, string>, event)).toBe(expected);
  });
});
