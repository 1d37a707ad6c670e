import { randomBytes } from 'node:crypto';

/** A NATS account: a space of subjects of its own, of which others see what they import. */
export interface NatsAccount {
  name: string;
  hasJetStream: boolean;
  imports: readonly NatsImport[];
}

/** What an account gets from the account `from`: messages (`stream`), or answers to its requests (`service`). */
export type NatsImport = { from: string } & (
  { stream: string } | { service: string; responseType: 'Singleton' | 'Stream' }
);

/** A user of the nats-server and what it may do: allow-lists of subjects (`*` and `>` as in NATS). */
export interface NatsUser {
  name: string;
  /** When not given: one with JetStream, for all who name none. */
  account?: NatsAccount;
  publish: readonly string[];
  /** Exceptions from `publish`. */
  doNotPublish?: readonly string[];
  subscribe: readonly string[];
  /** It may answer each request it receives, although the reply subject is not in `publish`. */
  servesRequests?: boolean;
  /** Random at each start when not given. */
  password?: string;
  /** The user whose password it has, whichever that is. */
  passwordOf?: string;
}

/** A user whose password is known. */
export type NatsUserWithPassword = NatsUser & { password: string };

/** Where a nats-server listens and keeps its data, and who may use it. */
export interface NatsConfigOptions {
  /** Shown to each client that connects; tells one server from another. */
  serverName: string;
  host: string;
  port: number;
  storeDirectory: string;
  /** The server writes its pid there. */
  pidFile?: string;
  users: readonly NatsUserWithPassword[];
}

/**
 * The configuration file of a nats-server with JetStream, in JSON, which is part of the NATS format:
 * https://docs.nats.io/running-a-nats-service/configuration
 */
export function renderNatsConfig(options: NatsConfigOptions): string {
  const config = {
    server_name: options.serverName,
    host: options.host,
    port: options.port,
    ...(options.pidFile === undefined ? {} : { pid_file: options.pidFile }),
    jetstream: { store_dir: options.storeDirectory },
    accounts: renderAccounts(options.users),
  };
  return JSON.stringify(config, undefined, 2);
}

/** The accounts of a nats-server with their users, exports and imports: the block `accounts` of its configuration. */
export function renderAccounts(users: readonly NatsUserWithPassword[]): Record<string, object> {
  const accounts = [...new Map(users.map((user) => [accountOf(user).name, accountOf(user)])).values()];
  return Object.fromEntries(
    accounts.map((account) => [
      account.name,
      {
        ...(account.hasJetStream && { jetstream: 'enabled' }),
        exports: accounts.flatMap((other) =>
          other.imports.filter(({ from }) => from === account.name).map((item) => renderExport(item, other)),
        ),
        // Not from an account that has no users here: the server refuses what nobody exports.
        imports: account.imports
          .filter(({ from }) => accounts.some(({ name }) => name === from))
          .map(renderImport),
        users: users.filter((user) => accountOf(user).name === account.name).map(renderUser),
      },
    ]),
  );
}

/** Gives a random password to each user that has none, and the same one to those who share it. */
export function choosePasswords(users: readonly NatsUser[]): NatsUserWithPassword[] {
  const passwords = new Map(
    users.map(({ name, password }) => [name, password ?? randomBytes(24).toString('hex')]),
  );
  return users.map((user) => {
    const password = passwords.get(user.passwordOf ?? user.name) ?? passwords.get(user.name);
    if (password === undefined) throw new Error(`the NATS user ${user.name} has no password`);
    return { ...user, password };
  });
}

const defaultAccount: NatsAccount = { name: 'DEFAULT', hasJetStream: true, imports: [] };

function accountOf(user: NatsUser): NatsAccount {
  return user.account ?? defaultAccount;
}

function renderExport(item: NatsImport, importer: NatsAccount): object {
  const accounts = [importer.name];
  if ('stream' in item) return { stream: item.stream, accounts };
  return { service: item.service, response_type: item.responseType, accounts };
}

function renderImport({ from, ...item }: NatsImport): object {
  if ('stream' in item) return { stream: { account: from, subject: item.stream } };
  return { service: { account: from, subject: item.service } };
}

function renderUser(user: NatsUserWithPassword): object {
  const { doNotPublish = [] } = user;
  return {
    user: user.name,
    password: user.password,
    permissions: {
      publish: { ...allowOnly(user.publish), ...(doNotPublish.length > 0 && { deny: doNotPublish }) },
      subscribe: allowOnly(user.subscribe),
      ...(user.servesRequests ? { allow_responses: true } : {}),
    },
  };
}

/** nats-server takes an empty allow-list for "everything", so nothing must be said as a denial of all. */
function allowOnly(subjects: readonly string[]): { allow: readonly string[] } | { deny: readonly string[] } {
  return subjects.length > 0 ? { allow: subjects } : { deny: ['>'] };
}
