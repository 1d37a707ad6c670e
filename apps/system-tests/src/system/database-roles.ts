import {
  createServiceRoles,
  serviceSchemas,
  urlOfRole,
  type DatabaseService,
} from '@stream-events/database/roles';

// The server runs only for the tests. One password for all roles, because a copied database keeps the roles of its original.
const password = 'system-tests';
const roles = Object.values(serviceSchemas).map((schema) => ({ schema, name: schema, password }));

/** Gives each service its role in a database, as every deployment does, with everything that a superuser has created there. */
export async function prepareDatabase(databaseUrl: string): Promise<void> {
  await createServiceRoles(databaseUrl, roles, { isDedicated: false });
}

/** The URL of a prepared database that a service gets. */
export function databaseUrlFor(service: DatabaseService, databaseUrl: string): string {
  return urlOfRole(databaseUrl, { name: serviceSchemas[service], password });
}
