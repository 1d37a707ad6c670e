import type { Authorization } from '../outbound-platform.js';
import { readObject, readObjects, readText, toStorable } from '../reply-fields.js';

const idPattern = /^[0-9A-Za-z_-]{1,64}$/;

/** Returns the query of `GET authorization/users`. Omits ids that cannot exist, so the query can be empty. */
export function toAuthorizationsQuery(userIds: readonly string[]): string {
  const ids = userIds.filter((id) => idPattern.test(id));
  return new URLSearchParams(ids.map((id): [string, string] => ['user_id', id])).toString();
}

/** Reads the reply to `GET authorization/users` (FACTS.md §4.1). */
export function readAuthorizations(body: unknown): Authorization[] {
  return readObjects(readObject(body, 'the list of authorizations'), 'data').map((user) => {
    const scopes: unknown[] = Array.isArray(user.scopes) ? user.scopes : [];
    const isWithdrawn = user.has_authorized === false;
    return {
      userId: readText(user, 'user_id'),
      scopes: isWithdrawn ? [] : scopes.filter((scope) => typeof scope === 'string').map(toStorable),
    };
  });
}
