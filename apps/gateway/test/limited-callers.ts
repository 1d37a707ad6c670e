import type { LimitedCaller } from '../src/access/caller.js';

/** A user with the main token. */
export function userOf(id: string): LimitedCaller {
  return { id, token: { id: `main token of ${id}`, kind: 'main' } };
}

/** The user `userId` with a named token, which has half of the user's limits. */
export function withNamedToken(userId: string, tokenId = 'leaked'): LimitedCaller {
  return { id: userId, token: { id: tokenId, kind: 'named' } };
}
