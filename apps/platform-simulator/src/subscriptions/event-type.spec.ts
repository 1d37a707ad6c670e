import { eventTypes, findEventType } from '@stream-events/platforms';
import {
  costOf,
  createCondition,
  findConditionFault,
  isWithdrawn,
  listRequiredGrants,
} from './event-type.js';
import { conditionKey, matchesCondition } from './subscription.js';

function rowOf(type: string, version?: string) {
  const row = findEventType(type, version);
  if (!row) throw new Error(`no row for ${type}`);
  return row;
}

describe(isWithdrawn.name, () => {
  it('returns true only for withdrawn versions', () => {
    const versions = ['1', '2', '3'];
    expect(versions.map((version) => isWithdrawn('channel.follow', version))).toEqual([true, false, false]);
    expect(eventTypes.filter(({ type, version }) => isWithdrawn(type, version))).toEqual([]);
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
    ['channel.cheer', { broadcaster_user_id: 1 }, 'condition.broadcaster_user_id must be a string'],
    ['channel.cheer', { broadcaster_user_id: '1', user: '1' }, 'unknown key user'],
    ['channel.follow', { broadcaster_user_id: '1' }, 'condition.moderator_user_id is missing'],
    ['channel.raid', {}, 'exactly one of'],
    ['channel.raid', { from_broadcaster_user_id: '1', to_broadcaster_user_id: '2' }, 'exactly one of'],
  ])('names the fault in the condition of %s: %j', (type, condition, fault) => {
    expect(findConditionFault(rowOf(type), condition)).toContain(fault);
  });
});

describe(createCondition.name, () => {
  it.each(eventTypes.map((row) => [row.type, row] as const))('makes a valid condition for %s', (_, row) => {
    expect(findConditionFault(row, createCondition(row, '1'))).toBeNull();
  });
});

describe(costOf.name, () => {
  it('is 0 for types that need consent, and 1 for others', () => {
    expect([costOf(rowOf('stream.online')), costOf(rowOf('channel.follow'))]).toEqual([1, 0]);
  });
});

function listOf(type: string, condition: Record<string, string>, tokenKind: 'app' | 'user' = 'app') {
  return listRequiredGrants(rowOf(type), condition, tokenKind);
}

describe(listRequiredGrants.name, () => {
  it('is empty for a type without scopes', () => {
    expect(listOf('stream.online', { broadcaster_user_id: '1' })).toEqual([]);
  });

  it('names the broadcaster', () => {
    expect(listOf('channel.cheer', { broadcaster_user_id: '1' })).toEqual([
      { userId: '1', oneOf: ['bits:read'] },
    ]);
  });

  it('names the moderator, with all scopes of a group', () => {
    expect(listOf('channel.poll.begin', { broadcaster_user_id: '1' })).toEqual([
      { userId: '1', oneOf: ['channel:read:polls', 'channel:manage:polls'] },
    ]);
    expect(listOf('channel.follow', { broadcaster_user_id: '1', moderator_user_id: '2' })).toEqual([
      { userId: '2', oneOf: ['moderator:read:followers'] },
    ]);
  });

  it('names the user who reads chat, and the broadcaster for the bot', () => {
    expect(listOf('channel.chat.message', { broadcaster_user_id: '1', user_id: '2' })).toEqual([
      { userId: '2', oneOf: ['user:read:chat'] },
      { userId: '2', oneOf: ['user:bot'] },
      { userId: '1', oneOf: ['channel:bot'] },
    ]);
  });

  it('needs no bot with a user access token', () => {
    expect(listOf('channel.chat.message', { broadcaster_user_id: '1', user_id: '2' }, 'user')).toEqual([
      { userId: '2', oneOf: ['user:read:chat'] },
    ]);
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
  ])('for the condition %j, returns %s', (condition, expected) => {
    expect(matchesCondition(condition as Record<string, string>, event)).toBe(expected);
  });
});
