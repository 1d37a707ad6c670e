import { readEventColumns } from './event-columns.js';

const none = {
  broadcasterUserId: null,
  userId: null,
  userName: null,
  rewardId: null,
  raidFrom: null,
  raidTo: null,
  raidFromId: null,
  raidToId: null,
};

const raid = {
  from_broadcaster_user_id: 'F1',
  from_broadcaster_user_name: 'From',
  to_broadcaster_user_id: 'T1',
  to_broadcaster_user_name: 'To',
};

function columnsOf(data: unknown, eventType = 'channel-follow') {
  return readEventColumns(eventType, JSON.stringify(data));
}

/** Returns data with the families of user keys, without those before index `first`. */
function familiesFrom(first: number): Record<string, unknown> {
  const families = [
    { user_id: '1', user_name: 'One' },
    { chatter_user_id: '2', chatter_user_name: 'Two' },
    { data: { message: { user_id: '3', user_name: 'Three' } } },
    { message: { user_id: '4', user_name: 'Four' } },
    { from_broadcaster_user_id: '5', from_broadcaster_user_name: 'Five' },
    { from_user_id: '6', from_user_name: 'Six' },
    { broadcaster_user_id: '7', broadcaster_user_name: 'Seven' },
  ];
  return Object.assign({}, ...families.slice(first).reverse()) as Record<string, unknown>;
}

describe(readEventColumns.name, () => {
  it('reads a key that is written with an escape, whatever was read before (nodejs/node#63785)', () => {
    // Guards against a bug in Node 24: for the second text, `JSON.parse` returns the second key of the first text.
    readEventColumns('channel-follow', '{"first":1,"user\\\\u0":1}');
    const data = '{"first":1,"user\\u005fid":"7"}';

    expect(readEventColumns('channel-follow', data)).toEqual({ ...none, userId: '7' });
  });

  it.each([
    [0, 'user_*', '1', 'one'],
    [1, 'chatter_user_*', '2', 'two'],
    [2, 'data.message.user_*', '3', 'three'],
    [3, 'message.user_*', '4', 'four'],
    [4, 'from_broadcaster_user_*', '5', 'five'],
    [5, 'from_user_*', '6', 'six'],
    [6, 'broadcaster_user_*', '7', 'seven'],
  ])('reads the acting user from the first family that is present (%i: %s)', (first, _, userId, userName) => {
    expect(columnsOf(familiesFrom(first))).toMatchObject({ userId, userName });
  });

  it.each([
    ['a null id', { user_id: null }],
    ['a null name', { user_name: null }],
    ['a null login', { user_login: null }],
    ['all null', { user_id: null, user_login: null, user_name: null, is_anonymous: true }],
    ['a nested null', { data: { message: { user_id: null } } }],
    ['another family', { chatter_user_login: null }],
  ])('has no acting user, not even the broadcaster, with %s', (_, keys) => {
    const data = { ...keys, broadcaster_user_id: '7', broadcaster_user_name: 'Seven' };

    expect(columnsOf(data)).toEqual({ ...none, broadcasterUserId: '7' });
  });

  it.each(['start', 'progress', 'stop', 'donate'])(
    'reads the channel of a charity campaign (%s) from both forms of its keys',
    (part) => {
      const type = `channel-charity_campaign-${part}`;
      const channel = { ...none, broadcasterUserId: '88', userId: '88', userName: 'nell' };

      expect(columnsOf({ broadcaster_id: '88', broadcaster_name: 'Nell' }, type)).toEqual(channel);
      expect(columnsOf({ broadcaster_user_id: '88', broadcaster_user_name: 'Nell' }, type)).toEqual(channel);
    },
  );

  it.each([
    ['broadcaster_user_id', { moderator_user_id: '1', user_id: '2', broadcaster_user_id: '88' }],
    ['to_broadcaster_user_id', { to_broadcaster_user_id: '88' }],
    ['from_broadcaster_user_id', { from_broadcaster_user_id: '88' }],
    ['user_id', { user_id: '88' }],
  ])('reads the channel of a revocation from its condition: %s', (_, condition) => {
    expect(columnsOf({ condition }, 'subscription-revocation')).toEqual({ ...none, broadcasterUserId: '88' });
  });

  it('does not mix two families', () => {
    expect(columnsOf({ user_name: 'One', chatter_user_id: '2' })).toMatchObject({
      userId: null,
      userName: 'one',
    });
  });

  it.each([
    ['text', { message: 'hello' }],
    ['a list', { message: [{ user_id: '4' }] }],
    ['null', { message: null, data: { message: null } }],
    ['without a user', { message: { text: 'hello' } }],
  ])('ignores a message that is %s', (_, keys) => {
    expect(columnsOf({ ...keys, broadcaster_user_id: '7' })).toMatchObject({ userId: '7' });
  });

  it('folds the case of users and rewards, and keeps the broadcaster as it is', () => {
    expect(columnsOf({ user_id: 'AbC', user_name: 'StraßeΣ', reward: { id: 'F00-BAR' }, broadcaster_user_id: 'XyZ' })).toEqual({ ...none, userId: 'abc', userName: 'strasseς', rewardId: 'f00-bar', broadcasterUserId: 'XyZ' }); // prettier-ignore
  });

  it.each(['raid', 'channel-raid'])(
    'reads the raiding and the raided channel from the type %s',
    (eventType) => {
      expect(columnsOf(raid, eventType)).toEqual({
        ...none,
        userId: 'f1',
        userName: 'from',
        raidFrom: 'from',
        raidTo: 'to',
        raidFromId: 'F1',
        raidToId: 'T1',
      });
    },
  );

  it.each(['Raid', 'channel.raid', 'channel-raid-x', 'channel-follow'])(
    'reads no raid from the type %s',
    (eventType) => {
      expect(columnsOf(raid, eventType)).toEqual({ ...none, userId: 'f1', userName: 'from' });
    },
  );

  it.each<[string, unknown, string | null]>([
    ['255 characters', 'a'.repeat(255), 'a'.repeat(255)],
    ['255 characters of two units', '🎉'.repeat(255), '🎉'.repeat(255)],
    ['256 characters', 'a'.repeat(256), null],
    ['nothing', '', ''],
    ['a NUL', 'a\0b', null],
    ['half a pair', '\ud83c', null],
    ['a number', 4711, null],
    ['true', true, null],
    ['a list', ['a'], null],
    ['an object', { id: 'a' }, null],
  ])('accepts or ignores a value of %s', (_, value, expected) => {
    const columns = columnsOf(
      {
        user_id: value,
        user_name: value,
        broadcaster_user_id: value,
        reward: { id: value },
        from_broadcaster_user_id: value,
        from_broadcaster_user_name: value,
        to_broadcaster_user_id: value,
        to_broadcaster_user_name: value,
      },
      'raid',
    );

    expect(Object.values(columns)).toEqual(Array(8).fill(expected));
  });

  it.each(['', '{', 'null', '7', '"text"', '[]', '[{"user_id":"1"}]', '{"user_id":"1"'])(
    'reads nothing from %j',
    (eventData) => {
      expect(readEventColumns('raid', eventData)).toEqual(none);
    },
  );

  it.each([
    '{"__proto__":{"user_id":"1"}}',
    '{"constructor":{"id":"1"}}',
    '{"reward":{"__proto__":{"id":"1"}}}',
  ])('reads no inherited member of %s', (eventData) => {
    expect(readEventColumns('raid', eventData)).toEqual(none);
  });
});
