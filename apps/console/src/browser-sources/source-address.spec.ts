import { readFileSync } from 'node:fs';
import { placeOnChannel, printSourceAddress } from './source-address.js';

type Data = Record<string, unknown>;

// Read the file directly, because the console must not import the platform's code.
const catalogue = 'libs/platforms/src/twitch/catalogue/event-examples.json';
const examples = Object.entries(JSON.parse(readFileSync(catalogue, 'utf8')) as Record<string, Data>);

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

  it('changes the channel in the condition of a revoked subscription', () => {
    const condition = { broadcaster_user_id: '1', user_id: '2' };
    expect(placeOnChannel({ type: 'channel.chat.message', condition }, channel)).toEqual({
      type: 'channel.chat.message',
      condition: { broadcaster_user_id: '7', user_id: '2' },
    });
  });
});
