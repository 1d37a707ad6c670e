import { eventTypes, findEventType } from './catalogue/event-types.js';
import {
  byPriority,
  conditionsFor,
  findByAnyName,
  requiredGrants,
  scopesFor,
  unsupportedReason,
} from './event-type-rules.js';

const values = { clientId: 'app' };
const typeNamed = (type: string) => findEventType(type)!;

describe('findByAnyName', () => {
  it('finds the newest version of every type by the platform’s name and by the name in events', () => {
    for (const { type } of eventTypes) {
      expect(findByAnyName(type)).toBe(findEventType(type));
      expect(findByAnyName(type.replaceAll('.', '-'))).toBe(findEventType(type));
    }
    expect(findByAnyName('channel-moderate')?.version).toBe('2');
  });

  it('finds nothing for other names', () => {
    expect(findByAnyName('stream')).toBeUndefined();
    expect(findByAnyName('')).toBeUndefined();
  });
});

describe('conditionsFor', () => {
  it.each([
    ['stream.online', { broadcaster_user_id: '7' }],
    ['channel.follow', { broadcaster_user_id: '7', moderator_user_id: '7' }],
    ['channel.chat.message', { broadcaster_user_id: '7', user_id: '7' }],
    ['user.update', { user_id: '7' }],
    ['user.authorization.revoke', { client_id: 'app' }],
  ])('makes the condition of %s', (type, condition) => {
    expect(conditionsFor(typeNamed(type), '7', values)).toEqual([condition]);
  });

  it('has the bot account as the user who reads chat, and nowhere else', () => {
    const withBot = { ...values, botId: '9' };
    expect(conditionsFor(typeNamed('channel.chat.message'), '7', withBot)).toEqual([
      { broadcaster_user_id: '7', user_id: '9' },
    ]);
    expect(conditionsFor(typeNamed('user.update'), '7', withBot)).toEqual([{ user_id: '7' }]);
  });

  it('makes one condition for each side of a raid, the raided channel first', () => {
    expect(conditionsFor(typeNamed('channel.raid'), '7', values)).toEqual([
      { to_broadcaster_user_id: '7' },
      { from_broadcaster_user_id: '7' },
    ]);
  });

  it('has the keys that the platform requires, for every supported type', () => {
    for (const row of eventTypes.filter((each) => unsupportedReason(each, values) === null)) {
      const conditions = conditionsFor(row, '7', values).map(Object.keys);
      for (const keys of conditions) expect(keys).toEqual(expect.arrayContaining(row.condition));
      const sides = conditions.map((keys) =>
        keys.filter((key) => row.condition_exactly_one_of.includes(key)),
      );
      const expected = row.condition_exactly_one_of.map((key) => [key]);
      expect(sides.sort()).toEqual(expected.length > 0 ? expected.sort() : [[]]);
    }
  });
});

describe('requiredGrants', () => {
  const requiredFor = (type: string) =>
    requiredGrants(typeNamed(type), conditionsFor(typeNamed(type), '7', values)[0]!);

  it('lists one grant for each group of scopes', () => {
    expect(requiredFor('channel.poll.begin')).toEqual([
      { userId: '7', oneOf: ['channel:read:polls', 'channel:manage:polls'], isOptional: false },
    ]);
    expect(requiredFor('channel.moderate')).toHaveLength(8);
    expect(requiredFor('stream.online')).toEqual([]);
    expect(requiredFor('user.authorization.grant')).toEqual([]);
  });

  it('lists the scopes of bots for chat', () => {
    expect(requiredFor('channel.chat.message').map(({ oneOf }) => oneOf[0])).toEqual([
      'user:read:chat',
      'user:bot',
      'channel:bot',
    ]);
  });

  it('are what a channel is asked for, for every supported type', () => {
    for (const row of eventTypes.filter((each) => unsupportedReason(each, values) === null)) {
      const required = conditionsFor(row, '7', values).flatMap((condition) => requiredGrants(row, condition));
      const asked = scopesFor([row]);
      for (const { oneOf } of required) expect(oneOf.some((scope) => asked.includes(scope))).toBe(true);
    }
  });
});

describe('scopesFor', () => {
  it('asks a channel for no chat scope except `channel:bot` when there is a bot account', () => {
    const types = ['channel.chat.message', 'channel.cheer'].map(typeNamed);
    expect(scopesFor(types)).toEqual(['bits:read', 'channel:bot', 'user:bot', 'user:read:chat']);
    expect(scopesFor(types, { hasBot: true })).toEqual(['bits:read', 'channel:bot']);
  });
});

describe('unsupportedReason', () => {
  it('returns a reason for exactly the types that users cannot activate, and for a missing client id', () => {
    const unsupported = eventTypes.filter((row) => unsupportedReason(row, values) !== null);
    expect(unsupported.map(({ type }) => type).sort()).toEqual([
      'conduit.shard.disabled',
      'drop.entitlement.grant',
      'extension.bits_transaction.create',
    ]);
    expect(unsupportedReason(typeNamed('drop.entitlement.grant'), values)).toContain('organization_id');
    expect(unsupportedReason(typeNamed('user.authorization.grant'), { clientId: undefined })).toContain(
      'PLATFORM_CLIENT_ID',
    );
  });
});

describe('byPriority', () => {
  it('puts stream.online first, then stream.offline, then the rest', () => {
    const sorted = byPriority(eventTypes).map(({ type }) => type);
    expect(sorted.slice(0, 2)).toEqual(['stream.online', 'stream.offline']);
    expect(sorted).toHaveLength(eventTypes.length);
  });
});
