import { findEventType } from '@stream-events/platforms';
import { listRequiredGrants } from './event-type.js';

function listOf(type: string, condition: Record<string, string>, tokenKind: 'app' | 'user' = 'app') {
  const row = findEventType(type);
  if (!row) throw new Error(`no row for ${type}`);
  return listRequiredGrants(row, condition, tokenKind);
}

describe(listRequiredGrants.name, () => {
  it('is empty for a type without scopes', () => {
    expect(listOf('stream.online', { broadcaster_user_id: '1' })).toEqual([]);
  });

  it('names the broadcaster', () => {
    expect(listOf('channel.cheer', { broadcaster_user_id: '1' })).toEqual([
      { userId: '1', oneOf: ['bits:read'] },
    ]);
  });

  it('names the moderator, with all scopes of a group', () => {
    expect(listOf('channel.poll.begin', { broadcaster_user_id: '1' })).toEqual([
      { userId: '1', oneOf: ['channel:read:polls', 'channel:manage:polls'] },
    ]);
    expect(listOf('channel.follow', { broadcaster_user_id: '1', moderator_user_id: '2' })).toEqual([
      { userId: '2', oneOf: ['moderator:read:followers'] },
    ]);
  });

  it('names the user who reads chat, and the broadcaster for the bot', () => {
    expect(listOf('channel.chat.message', { broadcaster_user_id: '1', user_id: '2' })).toEqual([
      { userId: '2', oneOf: ['user:read:chat'] },
      { userId: '2', oneOf: ['user:bot'] },
      { userId: '1', oneOf: ['channel:bot'] },
    ]);
  });

  it('needs no bot with a user access token', () => {
    expect(listOf('channel.chat.message', { broadcaster_user_id: '1', user_id: '2' }, 'user')).toEqual([
      { userId: '2', oneOf: ['user:read:chat'] },
    ]);
  });
});
