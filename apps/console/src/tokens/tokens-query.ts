import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../api/api.js';

/** The first part of the keys of all queries that list tokens. */
export const tokensKey = ['tokens'];

/** The tokens of a user; without an id, the tokens of the signed-in user. */
export function tokensQuery(userId?: string) {
  return queryOptions({
    queryKey: [...tokensKey, userId],
    queryFn: () => call(api().GET('/api/v1/tokens', { params: { query: userId ? { user: userId } : {} } })),
  });
}
