import type { NatsUser } from '@stream-events/embedded';

/**
 * Returns the users with accounts, names, and reply inboxes of their own, so that several installations of the services can share a
 * nats-server without seeing each other. A service derives its second user and its inboxes from the user name in `NATS_URL`.
 *
 * @param suffix letters and digits, which no other installation on the server uses
 */
export function withOwnAccounts(users: readonly NatsUser[], suffix: string): NatsUser[] {
  const subjects = (all: readonly string[]): string[] =>
    all.map((subject) => subject.replace(/^_INBOX_[^_.]+/, `$&-${suffix}`));
  return users.map(({ account, passwordOf, doNotPublish, ...user }) => ({
    ...user,
    name: ownUser(user.name, suffix),
    publish: subjects(user.publish),
    subscribe: subjects(user.subscribe),
    ...(doNotPublish && { doNotPublish: subjects(doNotPublish) }),
    ...(passwordOf !== undefined && { passwordOf: ownUser(passwordOf, suffix) }),
    ...(account && {
      account: {
        ...account,
        name: `${account.name}-${suffix}`,
        imports: account.imports.map((item) => ({ ...item, from: `${item.from}-${suffix}` })),
      },
    }),
  }));
}

/** The name of a user in an installation with its own accounts. */
export function ownUser(name: string, suffix: string): string {
  return name.replace(/^[^.]+/, `$&-${suffix}`);
}
