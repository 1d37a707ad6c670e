import { eventTypes, findEventType } from '@stream-events/platforms';
import {
  byPriority,
  conditionFor,
  findByAnyName,
  isActiveByDefault,
  unsupportedReason,
} from './event-type-rules.js';
import { seedEventTypes } from './event-type-seeds.js';

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

describe('seedEventTypes', () => {
  const seedAll = (platform: string) => seedEventTypes(eventTypes, [], platform).add;

  it('activates stream.online and stream.offline by default, and more types on the simulated platform', () => {
    const active = (platform: string) => seedAll(platform).filter((row) => row.active);
    expect(active('twitch').map(({ type }) => type)).toEqual(['stream.online', 'stream.offline']);
    expect(active('simulator')).toHaveLength(14);
    expect(active('simulator').every(({ type }) => isActiveByDefault(type, 'simulator'))).toBe(true);
    expect(seedAll('twitch')).toHaveLength(83);
  });

  it('keeps the choices of users and adds only new types', () => {
    const chosen = seedAll('twitch').slice(1).map((row) => ({ ...row, active: !row.active })); // prettier-ignore
    const { add, retire } = seedEventTypes(eventTypes, chosen, 'twitch');
    const [first] = eventTypes;
    expect(add).toEqual([{ type: first?.type, version: first?.version, active: false }]);
    expect(retire).toEqual([]);
  });

  it.each([true, false])('lets a newer version take over the choice (%s) of the one before', (active) => {
    const chosen = seedAll('twitch')
      .filter(({ type, version }) => !(type === 'channel.moderate' && version === '2'))
      .map((row) => (row.type === 'channel.moderate' ? { ...row, active } : row));
    const { add, retire } = seedEventTypes(eventTypes, chosen, 'twitch');
    expect(add).toEqual([{ type: 'channel.moderate', version: '2', active }]);
    expect(retire.map(({ version }) => version)).toEqual(active ? ['1'] : []);
  });
});
