import { randomBytes } from 'node:crypto';

/** A NATS account, which has its own space of subjects. Other accounts see only what they import. */
export interface NatsAccount {
  name: string;
  hasJetStream: boolean;
  imports: readonly NatsImport[];
}

/** What an account imports from the account `from`: messages (`stream`) or replies to requests (`service`). */
export type NatsImport = { from: string } & (
  | { stream: string }
  // `as`: the subject in the importing account, if it differs from the exported subject.
  | { service: string; responseType: 'Singleton' | 'Stream'; as?: string }
);

/** A user of the nats-server with its permissions: lists of allowed subjects (`*` and `>` as in NATS). */
export interface NatsUser {
  name: string;
  /** Default: an account with JetStream, shared by all users without an account. */
  account?: NatsAccount;
  publish: readonly string[];
  /** Exceptions to `publish`. */
  doNotPublish?: readonly string[];
  subscribe: readonly string[];
  /** Whether the user may reply to each request that it receives, even if `publish` does not contain the reply subject. */
  servesRequests?: boolean;
  /** Default: random at each start. */
  password?: string;
  /** Name of the user whose password this user shares. */
  passwordOf?: string;
}

/** A user with its final password. */
export type NatsUserWithPassword = NatsUser & { password: string };

/** The membership of a nats-server in a cluster. */
export interface NatsClusterOptions {
  name: string;
  /** Port on which the server accepts connections from the other members. */
  port: number;
  /** `nats://<host>:<port>` of each other member. */
  routes: readonly string[];
  /** The address at which the other members reach this server, if they cannot reach it on `port`. */
  advertise?: string;
}

/** Address, data folder, and users of a nats-server. */
export interface NatsConfigOptions {
  /** The server sends this name to each client that connects, which distinguishes servers. A member of a cluster keeps its name. */
  serverName: string;
  host: string;
  port: number;
  storeDirectory: string;
  /** The file to which the server writes its pid. */
  pidFile?: string;
  users: readonly NatsUserWithPassword[];
  cluster?: NatsClusterOptions | undefined;
}

// JetStream's storage limit, far above what the streams reserve. Without a configured limit, each start of the server sets the limit to
// three quarters of the free disk space. If other data has filled the disk, that limit is below what the streams have reserved, and the
// server rejects its own streams.
const storeLimit = 1024 ** 5;

/**
 * Renders the configuration file of a nats-server with JetStream. JSON is part of the NATS format:
 * https://docs.nats.io/running-a-nats-service/configuration
 */
export function renderNatsConfig(options: NatsConfigOptions): string {
  const config = {
    server_name: options.serverName,
    host: options.host,
    port: options.port,
    ...(options.pidFile === undefined ? {} : { pid_file: options.pidFile }),
    jetstream: { store_dir: options.storeDirectory, max_file_store: storeLimit },
    accounts: renderAccounts(options.users),
    ...(options.cluster && { cluster: renderCluster(options.host, options.cluster) }),
  };
  return JSON.stringify(config, undefined, 2);
}

function renderCluster(host: string, { name, port, routes, advertise }: NatsClusterOptions): object {
  return { name, host, port, routes, ...(advertise !== undefined && { advertise }) };
}

/** Renders the block `accounts` of the configuration: accounts with their users, exports, and imports. */
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
        // The server rejects an import from an account that is missing, so skip accounts without users.
        imports: account.imports
          .filter(({ from }) => accounts.some(({ name }) => name === from))
          .map(renderImport),
        users: users.filter((user) => accountOf(user).name === account.name).map(renderUser),
      },
    ]),
  );
}

/** Gives a random password to each user without a password. Users that share a password get the same password. */
export function choosePasswords(users: readonly NatsUser[]): NatsUserWithPassword[] {
  const passwords = new Map(
    users.map(({ name, password }) => [name, password ?? randomBytes(24).toString('hex')]),
  );
  return users.map((user) => {
    const password = passwords.get(user.passwordOf ?? user.name) ?? passwords.get(user.name);
    if (password === undefined) throw new Error(`The NATS user ${user.name} has no password.`);
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
  return {
    service: { account: from, subject: item.service },
    ...(item.as !== undefined && { to: item.as }),
  };
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

/** nats-server reads an empty list of allowed subjects as permission for all subjects, so deny all subjects when the list is empty. */
function allowOnly(subjects: readonly string[]): { allow: readonly string[] } | { deny: readonly string[] } {
  return subjects.length > 0 ? { allow: subjects } : { deny: ['>'] };
}
