import fc from 'fast-check';
import { findNamedUsers } from './named-users.js';

describe(findNamedUsers.name, () => {
  it.each([
    ['the key user_id', '{"user_id":"1"}', [['user_id', '1']]],
    ['a key that ends with _user_id', '{"broadcaster_user_id":"1"}', [['broadcaster_user_id', '1']]],
    ['a channel, a moderator, and an owner', '{"broadcaster_id":"1","moderator_id":"2","emote":{"owner_id":"3"}}', [['broadcaster_id', '1'], ['moderator_id', '2'], ['emote.owner_id', '3']]], // prettier-ignore
    ['several keys', '{"user_id":"1","x":2,"gifter_user_id":"3"}', [['user_id', '1'], ['gifter_user_id', '3']]], // prettier-ignore
    ['nested objects', '{"a":{"b":{"moderator_user_id":"1"}},"user_id":"2"}', [['a.b.moderator_user_id', '1'], ['user_id', '2']]], // prettier-ignore
    ['objects in arrays', '{"list":[{"user_id":"1"},{"x":[[{"user_id":"2"}]]}]}', [['list.user_id', '1'], ['list.x.user_id', '2']]], // prettier-ignore
    ['a key after an object and after an array', '{"a":{"b":1},"user_id":"1","c":[1],"d_user_id":"2"}', [['user_id', '1'], ['d_user_id', '2']]], // prettier-ignore
    ['an array of ids', '{"a":{"target_user_id":["1","2"]}}', [['a.target_user_id', '1'], ['a.target_user_id', '2']]], // prettier-ignore
    ['numbers', '{"user_id":12}', [['user_id', '12']]],
    ['both of two equal keys', '{"user_id":"1","user_id":"2"}', [['user_id', '1'], ['user_id', '2']]], // prettier-ignore
    ['white space', '{ "user_id" :\n "1" }', [['user_id', '1']]],
    ['escapes in the key and the value', String.raw`{"user\u005fid":"\u0031\"2"}`, [['user_id', '1"2']]],
    ['text that is not valid JSON', '{"a":tru, "user_id":"1", "b', [['user_id', '1']]],
  ])('finds %s', (_, text, expected) => {
    expect(findNamedUsers(text).map(({ field, id }) => [field, id])).toEqual(expected);
  });

  it.each([
    ['other keys', '{"id":"1","user_login":"1","user_ids":["1"],"xuser_id":"1","USER_ID":"1"}'],
    ['null', '{"user_id":null}'],
    ['values that look like keys', '{"text":"user_id","other":"1"}'],
    ['JSON inside of text', String.raw`{"text":"{\"user_id\":\"1\"}"}`],
    ['objects as values', '{"user_id":{"id":"1"}}'],
    ['nothing', ''],
  ])('does not take %s', (_, text) => {
    expect(findNamedUsers(text)).toEqual([]);
  });

  it('finds the same ids as a parser, for any JSON', () => {
    const key = fc.oneof(fc.constantFrom('user_id', 'gifter_user_id', 'a'), fc.string());
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string(),
        fc.integer(),
        fc.constant(null),
        fc.boolean(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, (data) => {
        expect(findNamedUsers(JSON.stringify(data)).map(({ id }) => id)).toEqual(collect(data, undefined));
      }),
    );
  });

  it('takes a time that grows with the length only, also for quotes without an end', () => {
    const text = `{"user_id":"1","x":${'"\\'.repeat(100_000)}`;

    expect(findNamedUsers(text)[0]).toEqual({ field: 'user_id', id: '1' });
  });
});

/** Collects the ids from parsed JSON, for comparison with the scanner. */
function collect(value: unknown, key: string | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => collect(item, key));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, item]) => collect(item, name));
  const isUser = key === 'user_id' || key?.endsWith('_user_id') === true;
  return isUser && value !== null ? [String(value)] : [];
}
