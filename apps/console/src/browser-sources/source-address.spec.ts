import { readFileSync } from 'node:fs';
import { placeOnChannel, printSourceAddress } from './source-address.js';

type Data = Record<string, unknown>;

// Read the file directly, because the console must not import the platform's code.
const catalogue = 'libs/platforms/src/twitch/catalogue';
const examples = Object.entries(
  JSON.parse(readFileSync(`${catalogue}/event-examples.json`, 'utf8')) as Record<string, Data>,
);

interface Conditions {
  type: string;
  version: string;
  condition: string[];
  condition_optional: string[];
  condition_exactly_one_of: string[];
}

// In the order of precedence.
const channelKeys = ['broadcaster_user_id', 'to_broadcaster_user_id', 'from_broadcaster_user_id', 'user_id'];
const types = JSON.parse(readFileSync(`${catalogue}/event-types.json`, 'utf8')) as Conditions[];
const conditions = types.map((row) => {
  const keys = [...row.condition, ...row.condition_optional, ...row.condition_exactly_one_of.slice(0, 1)];
  const condition = Object.fromEntries(keys.map((key) => [key, `id of ${key}`]));
  return { name: `${row.type}/${row.version}`, condition, key: channelKeys.find((key) => key in condition) };
});

describe(printSourceAddress.name, () => {
  it('has everything in the fragment, and encodes names', () => {
    expect(
      printSourceAddress('http://127.0.0.1:8000', 'abc', {
        name: 'alerts & more',
        channelId: '4711',
        seconds: 8,
      }),
    ).toBe('http://127.0.0.1:8000/overlay/#token=abc&name=alerts+%26+more&channel=4711&seconds=8');
  });
});

describe(placeOnChannel.name, () => {
  const channel = { id: '7', name: 'Mira' };

  it('changes the channel of an event, and the target of a raid', () => {
    expect(placeOnChannel({ user_name: 'Tom', broadcaster_user_id: '1' }, channel)).toEqual({
      user_name: 'Tom',
      broadcaster_user_id: '7',
      broadcaster_user_login: 'mira',
      broadcaster_user_name: 'Mira',
    });
    expect(
      placeOnChannel({ from_broadcaster_user_id: '1', to_broadcaster_user_id: '2' }, channel),
    ).toMatchObject({ from_broadcaster_user_id: '1', to_broadcaster_user_id: '7' });
    expect(placeOnChannel({ a: 1 }, channel)).toEqual({ a: 1 });
  });

  it.each(examples)('changes only the channel of %s', (_, example) => {
    const placed = placeOnChannel(example, channel);
    const prefix = ['broadcaster_user', 'broadcaster', 'to_broadcaster_user'].find(
      (each) => `${each}_id` in example,
    );
    expect(placed).toEqual({
      ...example,
      ...(prefix && { [`${prefix}_id`]: '7', [`${prefix}_login`]: 'mira', [`${prefix}_name`]: 'Mira' }),
    });
  });

  it.each(conditions)('changes only the channel in the condition of $name', ({ condition, key }) => {
    expect(placeOnChannel({ type: 'any', condition }, channel)).toEqual({
      type: 'any',
      condition: { ...condition, ...(key && { [key]: '7' }) },
    });
  });
});
