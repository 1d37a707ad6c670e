import { eventTypes, findEventType } from './catalogue/event-types.js';
import { byPriority, conditionFor, findByAnyName, unsupportedReason } from './event-type-rules.js';

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

describe('conditionFor', () => {
  it.each([
    ['stream.online', { broadcaster_user_id: '7' }],
    ['channel.follow', { broadcaster_user_id: '7', moderator_user_id: '7' }],
    ['channel.chat.message', { broadcaster_user_id: '7', user_id: '7' }],
    ['channel.raid', { to_broadcaster_user_id: '7' }],
    ['user.update', { user_id: '7' }],
    ['user.authorization.revoke', { client_id: 'app' }],
  ])('makes the condition of %s', (type, condition) => {
    expect(conditionFor(typeNamed(type), '7', values)).toEqual(condition);
  });

  it('has the keys that the platform requires, for every supported type', () => {
    for (const row of eventTypes.filter((each) => unsupportedReason(each, values) === null)) {
      const keys = Object.keys(conditionFor(row, '7', values));
      expect(keys).toEqual(expect.arrayContaining(row.condition));
      const oneOf = keys.filter((key) => row.condition_exactly_one_of.includes(key));
      expect(oneOf).toHaveLength(row.condition_exactly_one_of.length > 0 ? 1 : 0);
    }
  });
});

describe('unsupportedReason', () => {
  it('names the missing keys for exactly the types whose condition is not a streamer', () => {
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
