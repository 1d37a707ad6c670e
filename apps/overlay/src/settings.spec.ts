import { readSettings } from './settings.js';

describe(readSettings.name, () => {
  it('reads the fragment of an address', () => {
    expect(
      readSettings(
        '#token=abc&name=my%20alerts&types=channel-raid,channel-cheer&channel=4711&seconds=2.5&debug',
      ),
    ).toEqual({
      token: 'abc',
      name: 'my alerts',
      types: ['channel-raid', 'channel-cheer'],
      channel: '4711',
      showMs: 2_500,
      isDebug: true,
      isPreview: false,
    });
  });

  it.each(['', '#', '#seconds=soon&name=&types=&channel=', '#seconds=0', '#seconds=1e9', '#seconds=-1'])(
    'takes the defaults for what is missing or not valid: %s',
    (hash) => {
      expect(readSettings(hash)).toMatchObject({
        name: 'overlay',
        types: [],
        channel: undefined,
        showMs: 8_000,
      });
    },
  );
});
