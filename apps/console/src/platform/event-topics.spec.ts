import { groupByTopic, isOfChannels, newestOf, shortNameOf } from './event-topics.js';
import { permissionsOf } from './permissions.js';
import type { EventType } from './platform-queries.js';

function typeOf(type: string, fields: Partial<EventType> = {}): EventType {
  return {
    type,
    event_type: type.replaceAll('.', '-'),
    version: '1',
    condition: ['broadcaster_user_id'],
    scopes: [],
    permissions: [],
    description: '',
    active: true,
    status: 'enabled',
    subscriptions: {},
    unsupported: null,
    details: '',
    ...fields,
  };
}

describe('groupByTopic', () => {
  it('keeps the order of the topics, and puts types without a topic last', () => {
    const types = ['brand.new', 'channel.cheer', 'stream.online', 'channel.raid'].map((type) => typeOf(type));
    expect(groupByTopic(types).map(({ title, types }) => [title, types.map(({ type }) => type)])).toEqual([
      ['Streams', ['stream.online', 'channel.raid']],
      ['Bits', ['channel.cheer']],
      ['Others', ['brand.new']],
    ]);
  });

  it('tells types with a common start apart', () => {
    const titles = ['channel.chat.message', 'channel.channel_points_custom_reward.add', 'channel.unban'].map(
      (type) => groupByTopic([typeOf(type)])[0]?.title,
    );
    expect(titles).toEqual(['Chat', 'Channel points', 'Moderation']);
  });
});

describe('newestOf', () => {
  it('takes the last version of each type', () => {
    const [old, recent] = [typeOf('channel.moderate'), typeOf('channel.moderate', { version: '2' })];
    expect(newestOf([old, recent])).toEqual([recent]);
  });
});

describe('isOfChannels', () => {
  it.each([
    [['broadcaster_user_id', 'moderator_user_id'], true],
    [['from_broadcaster_user_id', 'to_broadcaster_user_id'], true],
    [['user_id'], true],
    [['client_id'], false],
    [['organization_id'], false],
  ])('for the condition %j, returns %j', (condition, expected) => {
    expect(isOfChannels(typeOf('a', { condition }))).toBe(expected);
  });
});

describe('shortNameOf', () => {
  it.each([
    ['channel.subscription.gift', 'subscription gift'],
    ['channel.channel_points_custom_reward.add', 'custom reward add'],
    ['stream.online', 'stream online'],
  ])('shortens %s to %s', (type, name) => {
    expect(shortNameOf({ type })).toBe(name);
  });
});

describe('permissionsOf', () => {
  const polls = typeOf('channel.poll.begin', {
    scopes: [['polls:read', 'polls:manage']],
    permissions: [['See polls', 'Manage polls']],
  });
  const cheers = typeOf('channel.cheer', { scopes: [['bits:read']], permissions: [['See Bits']] });

  it('names each permission once: the one that permits the least', () => {
    expect(permissionsOf([polls, cheers, polls])).toEqual([
      { scope: 'bits:read', text: 'See Bits' },
      { scope: 'polls:read', text: 'See polls' },
    ]);
  });
});
