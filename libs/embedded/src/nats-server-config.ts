/** A user of the nats-server and what it may do: allow-lists of subjects (`*` and `>` as in NATS). */
export interface NatsUser {
  name: string;
  publish: readonly string[];
  subscribe: readonly string[];
  /** It may answer each request it receives, although the reply subject is not in `publish`. */
  servesRequests?: boolean;
  /** Random at each start when not given. */
  password?: string;
}

/** Where a nats-server listens and keeps its data, and who may use it. */
export interface NatsConfigOptions {
  /** Shown to each client that connects; tells one server from another. */
  serverName: string;
  host: string;
  port: number;
  storeDirectory: string;
  /** The server writes its pid there. */
  pidFile?: string;
  users: readonly (NatsUser & { password: string })[];
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
    authorization: {
      users: options.users.map((user) => ({
        user: user.name,
        password: user.password,
        permissions: {
          publish: allowOnly(user.publish),
          subscribe: allowOnly(user.subscribe),
          ...(user.servesRequests ? { allow_responses: true } : {}),
        },
      })),
    },
  };
  return JSON.stringify(config, undefined, 2);
}

/** nats-server takes an empty allow-list for "everything", so nothing must be said as a denial of all. */
function allowOnly(subjects: readonly string[]): { allow: readonly string[] } | { deny: readonly string[] } {
  return subjects.length > 0 ? { allow: subjects } : { deny: ['>'] };
}
