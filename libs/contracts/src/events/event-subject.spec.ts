import { anyCharacter } from '@stream-events/testing';
import fc from 'fast-check';
import { eventSubject, subjectChannel } from './event-subject.js';

describe(eventSubject.name, () => {
  it.each([
    ['channel-raid', 'events.platform.channel-raid.4711'],
    [
      'channel-channel_points_custom_reward_redemption-add',
      'events.platform.channel-channel_points_custom_reward_redemption-add.4711',
    ],
    ['stream.offline', 'events.platform.stream%2Eoffline.4711'],
    ['*', 'events.platform.%2A.4711'],
    ['>', 'events.platform.%3E.4711'],
    ['a b\t\r\nc', 'events.platform.a%20b%09%0D%0Ac.4711'],
    ["!'()~", 'events.platform.%21%27%28%29%7E.4711'],
    ['größe', 'events.platform.gr%C3%B6%C3%9Fe.4711'],
    ['🎉', 'events.platform.%F0%9F%8E%89.4711'],
    ['%2E', 'events.platform.%252E.4711'],
  ])('encodes the type %j', (eventType, expected) => {
    expect(eventSubject('platform', eventType, '4711')).toBe(expected);
  });

  it.each([
    [512, 'events.test.' + 'a'.repeat(512) + '._'],
    [513, 'events.test._long._'],
  ])('shortens a type only above 512 encoded bytes: %d', (length, expected) => {
    expect(eventSubject('test', 'a'.repeat(length), null)).toBe(expected);
  });

  it('counts encoded bytes, not characters', () => {
    expect(eventSubject('test', '🎉'.repeat(42), null)).toContain('%F0%9F%8E%89');
    expect(eventSubject('test', '🎉'.repeat(43), null)).toBe('events.test._long._');
  });

  it.each([
    ['a number', '123', '123'],
    ['letters, digits, underscore and hyphen', 'aZ_9-', 'aZ_9-'],
    ['64 characters', '1'.repeat(64), '1'.repeat(64)],
    ['65 characters', '1'.repeat(65), '_'],
    ['none', null, '_'],
    ['empty', '', '_'],
    ['a dot', '1.2', '_'],
    ['a star', '*', '_'],
    ['a wildcard', '>', '_'],
    ['a space', '1 2', '_'],
    ['a line break at its end', '1\n', '_'],
    ['letters of other scripts', 'é', '_'],
  ])('prints the token of a broadcaster id: %s', (_, broadcasterUserId, expected) => {
    expect(eventSubject('platform', 'raid', broadcasterUserId)).toBe(`events.platform.raid.${expected}`);
  });

  it('always prints four valid NATS tokens', () => {
    const type = fc.string({ minLength: 1, maxLength: 255, unit: anyCharacter });
    fc.assert(
      fc.property(type, fc.option(fc.string({ unit: anyCharacter })), (eventType, broadcasterUserId) => {
        const subject = eventSubject('platform', eventType, broadcasterUserId);
        expect(subject).toMatch(/^events\.platform\.[\w%-]{1,512}\.[\w-]{1,64}$/);
      }),
    );
  });

  it('prints different tokens for different types that are not too long', () => {
    const type = fc.string({ minLength: 1, maxLength: 40, unit: anyCharacter });
    fc.assert(
      fc.property(type, type, (one, other) => {
        expect(eventSubject('test', one, null) === eventSubject('test', other, null)).toBe(one === other);
      }),
    );
  });
});

describe(subjectChannel.name, () => {
  it.each([
    ['the broadcaster', '1', null, '1'],
    ['the raided channel of a raid', null, '2', '2'],
    ['the broadcaster of a raid that has one', '1', '2', '1'],
    ['no channel', null, null, null],
  ])('returns %s', (_, broadcasterUserId, raidToId, expected) => {
    expect(subjectChannel({ broadcasterUserId, raidToId })).toBe(expected);
  });
});
