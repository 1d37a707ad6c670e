import { sentNameOf } from './field-aliases.js';

describe(sentNameOf.name, () => {
  it('finds a field by its name and by its alias', () => {
    expect(sentNameOf('platform_username', { platform_username: 'a' })).toBe('platform_username');
    expect(sentNameOf('platform_username', { twitch_username: 'a' })).toBe('twitch_username');
    expect(sentNameOf('streaming', { streaming: null })).toBe('streaming');
  });

  it('prefers the name over the alias, whatever the values', () => {
    expect(sentNameOf('platform_username', { twitch_username: 'a', platform_username: null })).toBe(
      'platform_username',
    );
  });

  it('ignores fields that the body does not have or only inherits', () => {
    expect(sentNameOf('platform_username', {})).toBeUndefined();
    expect(sentNameOf('twitch_username', { platform_username: 'a' })).toBeUndefined();
    expect(sentNameOf('toString', {})).toBeUndefined();
    expect(
      sentNameOf('platform_username', Object.create({ twitch_username: 'a' }) as object),
    ).toBeUndefined();
  });
});
