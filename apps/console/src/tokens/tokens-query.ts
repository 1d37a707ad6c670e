import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../api/api.js';

/** Key prefix of all queries that list tokens. */
export const tokensKey = ['tokens'];

/** Tokens of the given user, or of the signed-in user. */
export function tokensQuery(userId?: string) {
  return queryOptions({
    queryKey: [...tokensKey, userId],
    queryFn: () => call(api().GET('/api/v1/tokens', { params: { query: userId ? { user: userId } : {} } })),
  });
}
