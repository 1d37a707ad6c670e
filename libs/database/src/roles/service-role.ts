import { joinHosts, splitHosts } from '@stream-events/service';
import type pg from 'pg';

/** The database schema of each service. */
export const serviceSchemas = {
  events: 'events',
  gateway: 'gateway',
  'platform-connector': 'platform_connector',
  'streamer-monitor': 'streamer_monitor',
} as const;

/** A service that has a schema, and therefore a database role. */
export type DatabaseService = keyof typeof serviceSchemas;

/** The role of one service. It owns one schema and nothing else. */
export interface ServiceRole {
  name: string;
  schema: string;
  /** Only visible ASCII characters. */
  password: string;
}

/** A connection in a transaction. */
export type Session = Pick<pg.Client, 'query'>;

// PostgreSQL truncates longer names.
const maxNameLength = 63;

/**
 * The default name of a service's role. The default name contains the name of the database, because all databases of a server share roles.
 */
export function roleNameOf(database: string, service: DatabaseService): string {
  const name = `${database}_${serviceSchemas[service]}`;
  if (Buffer.byteLength(name) <= maxNameLength) return name;
  throw new Error(
    `The name of the database ${database} is too long: the name of the role ${name} would be longer than ${maxNameLength} bytes.`,
  );
}

/** Returns the URL of a database with a role's credentials. */
export function urlOfRole(databaseUrl: string, { name, password }: Omit<ServiceRole, 'schema'>): string {
  const urls = splitHosts(databaseUrl).map((ofHost) => {
    const url = new URL(ofHost);
    url.username = encodeURIComponent(name);
    url.password = encodeURIComponent(password);
    return url.href;
  });
  return joinHosts(urls);
}

/** The name of the database in a URL. */
export function databaseOf(url: string): string {
  const [first = url] = splitHosts(url);
  return decodeURIComponent(new URL(first).pathname.slice(1));
}
