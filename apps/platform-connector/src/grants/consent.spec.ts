import { findEventType, requiredGrants } from '@stream-events/platforms';
import { consentFor, type Consent, type KnownScopes } from './consent.js';

const chatByBot = { broadcaster_user_id: '1', user_id: '9' };

function consent(
  type: string,
  condition: Record<string, string>,
  known: Record<string, KnownScopes>,
): Consent {
  const required = requiredGrants(findEventType(type)!, condition);
  return consentFor(required, condition, (userId) => known[userId] ?? 'unlisted');
}

describe('consentFor', () => {
  const cheers = (known: KnownScopes) =>
    consent('channel.cheer', { broadcaster_user_id: '1' }, { '1': known });

  it('needs no consent for a type without scopes', () => {
    expect(consent('stream.online', { broadcaster_user_id: '1' }, {})).toEqual({ kind: 'given' });
  });

  it('is what is known about the channel', () => {
    expect(cheers(new Set(['bits:read']))).toEqual({ kind: 'given' });
    expect(cheers('unlisted')).toEqual({ kind: 'unlisted' });
    expect(cheers('unknown')).toEqual({ kind: 'unknown', channelId: '1' });
  });

  it('says who has not granted what, and what to do', () => {
    expect(cheers(new Set(['channel:read:polls']))).toMatchObject({
      kind: 'missing',
      remedy: expect.stringMatching(/user 1 has not granted bits:read.*Connect or reconnect this user/),
    });
  });

  it.each(['channel:read:polls', 'channel:manage:polls'])('accepts each scope of a group: %s', (scope) => {
    const known = { '1': new Set([scope]) };
    expect(consent('channel.poll.begin', { broadcaster_user_id: '1' }, known).kind).toBe('given');
  });

  it('needs the bot’s consent for chat, and tries without that of the channel', () => {
    const bot = new Set(['user:read:chat', 'user:bot']);
    const chat = (known: Record<string, KnownScopes>) => consent('channel.chat.message', chatByBot, known);
    expect(chat({ '1': new Set(['channel:bot']), '9': bot })).toEqual({ kind: 'given' });
    // A bot that moderates the channel does not need the channel's consent.
    expect(chat({ '1': new Set(), '9': bot })).toEqual({ kind: 'unknown', channelId: '1' });
    expect(chat({ '1': new Set(['channel:bot']), '9': new Set(['user:bot']) })).toMatchObject({
      kind: 'missing',
      remedy: expect.stringContaining('user 9 has not granted user:read:chat'),
    });
  });
});
