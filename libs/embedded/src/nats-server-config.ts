import { randomBytes } from 'node:crypto';

/** A NATS account. Each account has its own subjects; other accounts see only what they import. */
export interface NatsAccount {
  name: string;
  hasJetStream: boolean;
  imports: readonly NatsImport[];
}

/** What an account imports from the account `from`: messages (`stream`), or access to request handlers (`service`). */
export type NatsImport = { from: string } & (
  | { stream: string }
  // `as`: the subject in the importing account, if it has another name there.
  | { service: string; responseType: 'Singleton' | 'Stream'; as?: string }
);

/** A NATS user with its permissions. The lists contain subjects, with the wildcards `*` and `>`. */
export interface NatsUser {
  name: string;
  /** Default: one JetStream account for all users without an account. */
  account?: NatsAccount;
  publish: readonly string[];
  /** Exceptions to `publish`. */
  doNotPublish?: readonly string[];
  subscribe: readonly string[];
  /** Whether the user may reply to requests. Reply subjects then need not be in `publish`. */
  servesRequests?: boolean;
  /** Default: random at each start. */
  password?: string;
  /** Use the password of the user with this name. */
  passwordOf?: string;
}

/** A user whose password is set. */
export type NatsUserWithPassword = NatsUser & { password: string };

/** The membership of a nats-server in a cluster. */
export interface NatsClusterOptions {
  name: string;
  /** Port for connections from other members. */
  port: number;
  /** URLs of the other members: `nats://<host>:<port>`. */
  routes: readonly string[];
  /** Address that other members use, if they cannot connect to `port` directly. */
  advertise?: string;
}

export interface NatsConfigOptions {
  /** The name in the server's greeting, which tells servers apart. Cluster members keep the same name across restarts. */
  serverName: string;
  host: string;
  port: number;
  storeDirectory: string;
  /** nats-server writes its pid to this file. */
  pidFile?: string;
  users: readonly NatsUserWithPassword[];
  cluster?: NatsClusterOptions | undefined;
}

// JetStream's storage limit: 1 PiB, far more than the streams reserve. The default is 75% of the free disk space at each start. On a full
// disk, that would be less than the streams reserve, and the server would reject its own streams.
const storeLimit = 1024 ** 5;

/**
 * Renders a nats-server configuration file with JetStream. JSON is valid NATS configuration:
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

/** Renders the `accounts` block with users, exports, and imports. */
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
        // Skip accounts without users: they are not in the configuration, and the server rejects imports from missing accounts.
        imports: account.imports
          .filter(({ from }) => accounts.some(({ name }) => name === from))
          .map(renderImport),
        users: users.filter((user) => accountOf(user).name === account.name).map(renderUser),
      },
    ]),
  );
}

/** Generates a password for each user without one. Users that share a password get the same one. */
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

/** nats-server treats an empty allow list as "allow everything", so deny all subjects explicitly. */
function allowOnly(subjects: readonly string[]): { allow: readonly string[] } | { deny: readonly string[] } {
  return subjects.length > 0 ? { allow: subjects } : { deny: ['>'] };
}
