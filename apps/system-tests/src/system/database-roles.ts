import {
  createServiceRoles,
  serviceSchemas,
  urlOfRole,
  type DatabaseService,
} from '@stream-events/database/roles';

// The server runs only for the tests. All roles have the same password, because a copied database keeps the roles of its original.
const password = 'system-tests';
const roles = Object.values(serviceSchemas).map((schema) => ({ schema, name: schema, password }));

/**
 * Creates the role of each service in a database, as every deployment does, and makes the role the owner of existing objects of a
 * superuser.
 */
export async function prepareDatabase(databaseUrl: string): Promise<void> {
  await createServiceRoles(databaseUrl, roles, { isDedicated: false });
}

/** Returns the URL of a prepared database for a service. */
export function databaseUrlFor(service: DatabaseService, databaseUrl: string): string {
  return urlOfRole(databaseUrl, { name: serviceSchemas[service], password });
}
