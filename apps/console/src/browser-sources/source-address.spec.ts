import { placeOnChannel, printSourceAddress } from './source-address.js';

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
});
