import type { PlatformUserMessage } from '@stream-events/contracts';
import { readObject, readObjects, readOptionalText, readText } from '../reply-fields.js';

// Every user name matches this pattern. Leave out other names, because one invalid name makes Twitch reject the whole lookup.
const loginPattern = /^[a-z0-9_]{1,25}$/;
const idPattern = /^[0-9A-Za-z_-]{1,64}$/;

/** Returns the query of `GET users`. Omits names and ids that cannot exist, so the query can be empty. */
export function toUsersQuery(ids: readonly string[], logins: readonly string[]): string {
  const query = new URLSearchParams();
  for (const id of ids) if (idPattern.test(id)) query.append('id', id);
  for (const login of logins.map((name) => name.toLowerCase()))
    if (loginPattern.test(login)) query.append('login', login);
  return query.toString();
}

/** Reads the reply to `GET users` (FACTS.md §4.4). */
export function readUsers(body: unknown): PlatformUserMessage[] {
  return readObjects(readObject(body, 'the list of users'), 'data').map((user) => {
    const login = readText(user, 'login');
    return { id: readText(user, 'id'), login, displayName: readOptionalText(user, 'display_name') || login };
  });
}
