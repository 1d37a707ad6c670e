import { sentNameOf } from './field-aliases.js';

describe(sentNameOf.name, () => {
  it('finds a field by its own name, and by the alias that it has', () => {
    expect(sentNameOf('platform_username', { platform_username: 'a' })).toBe('platform_username');
    expect(sentNameOf('platform_username', { twitch_username: 'a' })).toBe('twitch_username');
    expect(sentNameOf('streaming', { streaming: null })).toBe('streaming');
  });

  it('prefers its own name, whatever is in it', () => {
    expect(sentNameOf('platform_username', { twitch_username: 'a', platform_username: null })).toBe(
      'platform_username',
    );
  });

  it('finds nothing that a body does not bring along itself', () => {
    expect(sentNameOf('platform_username', {})).toBeUndefined();
    expect(sentNameOf('twitch_username', { platform_username: 'a' })).toBeUndefined();
    expect(sentNameOf('toString', {})).toBeUndefined();
    expect(
      sentNameOf('platform_username', Object.create({ twitch_username: 'a' }) as object),
    ).toBeUndefined();
  });
});
