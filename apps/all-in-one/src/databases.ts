import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { checkSchema } from '@stream-events/database';
import type { BackedUpSchema } from '@stream-events/database/backup';
import {
  canLogIn,
  createServiceRoles,
  databaseOf,
  isPermissionError,
  roleNameOf,
  serviceSchemas,
  urlOfRole,
  type DatabaseService,
  type ServiceRole,
} from '@stream-events/database/roles';
import { eventsBackup } from '@stream-events/events/backup';
import { gatewayBackup } from '@stream-events/gateway/backup';
import { platformConnectorBackup } from '@stream-events/platform-connector/backup';
import { splitHosts } from '@stream-events/service';
import { streamerMonitorBackup } from '@stream-events/streamer-monitor/backup';
import { serviceUrlsOf, type AllInOneConfig } from './all-in-one.config.js';
import { keepSecret } from './kept-secret.js';

/** The schemas of all services, in start order. */
export const backedUpSchemas: Readonly<Record<DatabaseService, BackedUpSchema>> = {
  events: eventsBackup,
  gateway: gatewayBackup,
  'streamer-monitor': streamerMonitorBackup,
  'platform-connector': platformConnectorBackup,
};

export interface Databases {
  /** URL with the role that owns the service's schema. */
  urlFor(service: DatabaseService): string;
}

/**
 * Creates the roles in the embedded database. Each role's password is in a file in the data folder. A role without a file gets a new
 * password.
 */
export async function prepareEmbeddedDatabase(superuserUrl: string, directory: string): Promise<Databases> {
  const roles = await describeRoles(superuserUrl, (service) =>
    keepSecret(join(directory, `postgres-${service}-password`)),
  );
  return createRoles(superuserUrl, roles, { isDedicated: true });
}

/**
 * Returns the configured URLs for the operator's own database, or creates a role per service. If DATABASE_URL does not allow roles per
 * service (see `tryToCreateRoles`), all services share its role.
 */
export async function prepareOwnDatabase(
  config: AllInOneConfig,
  say: (line: string) => void,
): Promise<Databases> {
  const urls = serviceUrlsOf(config);
  if (urls) return { urlFor: (service) => urls[service] };
  const { DATABASE_URL = '' } = config;
  const outcome = await tryToCreateRoles(DATABASE_URL);
  if (typeof outcome !== 'string') return outcome;
  say(
    `PostgreSQL: WARNING: all services use the role of DATABASE_URL, because ${outcome}. Each service can therefore read all tables. ` +
      'To separate the services, see "Database roles" in docs/security.md',
  );
  return { urlFor: () => DATABASE_URL };
}

/**
 * Creates the roles. If the URL has no password, its role may not create roles, or the new roles cannot log in, returns the reason as text.
 */
async function tryToCreateRoles(url: string): Promise<Databases | string> {
  const { password } = new URL(splitHosts(url)[0] ?? url);
  if (password === '') return 'DATABASE_URL has no password';
  // Derive the passwords, because all instances on one database must arrive at the same ones.
  const derive = (service: DatabaseService): string =>
    createHmac('sha256', decodeURIComponent(password)).update(`database role of ${service}`).digest('hex');
  try {
    const roles = await describeRoles(url, derive);
    const databases = await createRoles(url, roles, { isDedicated: false });
    return (await canLogIn(databases.urlFor('gateway')))
      ? databases
      : 'the server does not let new roles log in';
  } catch (error) {
    if (isPermissionError(error)) return `the role of DATABASE_URL may not create roles (${String(error)})`;
    throw error;
  }
}

/** @throws Error when another version created one of the schemas */
export async function refuseUnknownSchemas(databases: Databases): Promise<void> {
  const services = Object.keys(backedUpSchemas) as DatabaseService[]; // Safe cast: backedUpSchemas has exactly these keys.
  await Promise.all(
    services.map(async (service) => {
      const { name: schema, migrations } = backedUpSchemas[service];
      const url = databases.urlFor(service);
      await checkSchema({ url, schema, migrations, applicationName: 'all-in-one' });
    }),
  );
}

function describeRoles(
  url: string,
  passwordOf: (service: DatabaseService) => string | Promise<string>,
): Promise<ServiceRole[]> {
  const services = Object.keys(serviceSchemas) as DatabaseService[]; // Safe cast: serviceSchemas has exactly these keys.
  return Promise.all(
    services.map(async (service) => ({
      name: roleNameOf(databaseOf(url), service),
      schema: serviceSchemas[service],
      password: await passwordOf(service),
    })),
  );
}

async function createRoles(
  url: string,
  roles: readonly ServiceRole[],
  options: { isDedicated: boolean },
): Promise<Databases> {
  await createServiceRoles(url, roles, options);
  return { urlFor: (service) => urlOfRole(url, roleOf(roles, service)) };
}

function roleOf(roles: readonly ServiceRole[], service: DatabaseService): ServiceRole {
  const role = roles.find(({ schema }) => schema === serviceSchemas[service]);
  if (!role) throw new Error(`no database role for ${service}`);
  return role;
}
