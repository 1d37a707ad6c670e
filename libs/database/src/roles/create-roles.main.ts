import { setTimeout as wait } from 'node:timers/promises';
import { ConfigError, loadConfig, sharedVariables, splitHosts } from '@stream-events/service';
import { isUnavailableError } from '../database-error.js';
import { databaseOf, serviceSchemas, type ServiceRole } from './service-role.js';
import { createServiceRoles } from './service-roles.js';

/**
 * Creates or updates the services' database roles, then exits. Compose and other deployments run it before the services. The program needs
 * DATABASE_URL with the credentials of a superuser (see `createServiceRoles` for another role), and the services' URLs, which contain the
 * names and passwords of the roles.
 */
const {
  DATABASE_URL,
  EVENTS_DATABASE_URL,
  GATEWAY_DATABASE_URL,
  PLATFORM_CONNECTOR_DATABASE_URL,
  STREAMER_MONITOR_DATABASE_URL,
} = sharedVariables;
const variables = {
  DATABASE_URL,
  EVENTS_DATABASE_URL,
  GATEWAY_DATABASE_URL,
  PLATFORM_CONNECTOR_DATABASE_URL,
  STREAMER_MONITOR_DATABASE_URL,
};

// How long to retry the connection. A database server that starts along with this program may need this long for its first start.
const startLimitMs = 60_000;
const retryMs = 500;
// How often to print an unchanged reason for waiting.
const repeatMs = 10_000;

try {
  const config = loadConfig(variables, process.env);
  const roles: ServiceRole[] = [
    roleOf(config.EVENTS_DATABASE_URL, serviceSchemas.events),
    roleOf(config.GATEWAY_DATABASE_URL, serviceSchemas.gateway),
    roleOf(config.PLATFORM_CONNECTOR_DATABASE_URL, serviceSchemas['platform-connector']),
    roleOf(config.STREAMER_MONITOR_DATABASE_URL, serviceSchemas['streamer-monitor']),
  ];
  checkRoles(roles);
  await createWhenStarted(config.DATABASE_URL, roles);
  process.stdout.write(
    `The database ${databaseOf(config.DATABASE_URL)} has the roles ${roles.map(({ name }) => name).join(', ')}.\n`,
  );
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`Cannot create the database roles of the services. ${message}\n`);
  process.exitCode = error instanceof ConfigError ? 2 : 1;
}

function roleOf(serviceUrl: string, schema: string): ServiceRole {
  const { username, password } = new URL(splitHosts(serviceUrl)[0] ?? serviceUrl);
  return { schema, name: decodeURIComponent(username), password: decodeURIComponent(password) };
}

function checkRoles(roles: readonly ServiceRole[]): void {
  const faults = roles
    .filter(({ name, password }) => name === '' || password === '')
    .map(({ schema }) => `${schema.toUpperCase()}_DATABASE_URL must have a role and its password`);
  if (new Set(roles.map(({ name }) => name)).size < roles.length)
    faults.push('every service needs its own role');
  if (faults.length > 0) throw new ConfigError(faults);
}

async function createWhenStarted(url: string, roles: readonly ServiceRole[]): Promise<void> {
  const deadline = Date.now() + startLimitMs;
  let shown = { reason: '', at: -Infinity };
  for (;;) {
    try {
      await createServiceRoles(url, roles, { isDedicated: true });
      return;
    } catch (error) {
      if (Date.now() > deadline || !isUnavailableError(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== shown.reason || Date.now() > shown.at + repeatMs) {
        process.stderr.write(`Waiting for PostgreSQL: ${reason}\n`);
        shown = { reason, at: Date.now() };
      }
      await wait(retryMs);
    }
  }
}
