import { joinHosts, splitHosts } from '@stream-events/service';
import type pg from 'pg';

/** The schema of each service. */
export const serviceSchemas = {
  events: 'events',
  gateway: 'gateway',
  'platform-connector': 'platform_connector',
  'streamer-monitor': 'streamer_monitor',
} as const;

/** A service with a schema, and therefore a database role. */
export type DatabaseService = keyof typeof serviceSchemas;

/** A service's role, which owns one schema and nothing else. */
export interface ServiceRole {
  name: string;
  schema: string;
  /** Must consist of visible ASCII characters. */
  password: string;
}

/** A connection with an open transaction. */
export type Session = Pick<pg.Client, 'query'>;

// Maximum length in bytes; PostgreSQL truncates longer names.
const maxNameLength = 63;

/**
 * Returns the default name of a service's role. The name contains the database's name, because all databases of a server share their roles.
 */
export function roleNameOf(database: string, service: DatabaseService): string {
  const name = `${database}_${serviceSchemas[service]}`;
  if (Buffer.byteLength(name) <= maxNameLength) return name;
  throw new Error(
    `The name of the database ${database} is too long: the name of the role ${name} would be longer than ${maxNameLength} bytes.`,
  );
}

/** Returns the database's URL with a role's credentials. */
export function urlOfRole(databaseUrl: string, { name, password }: Omit<ServiceRole, 'schema'>): string {
  const urls = splitHosts(databaseUrl).map((ofHost) => {
    const url = new URL(ofHost);
    url.username = encodeURIComponent(name);
    url.password = encodeURIComponent(password);
    return url.href;
  });
  return joinHosts(urls);
}

/** Returns the database name in a URL. */
export function databaseOf(url: string): string {
  const [first = url] = splitHosts(url);
  return decodeURIComponent(new URL(first).pathname.slice(1));
}
