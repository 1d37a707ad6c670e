import {
  createServiceRoles,
  serviceSchemas,
  urlOfRole,
  type DatabaseService,
} from '@stream-events/database/roles';

// This server exists only for the tests. All roles share a password, because a copied database keeps the roles of its original.
const password = 'system-tests';
const roles = Object.values(serviceSchemas).map((schema) => ({ schema, name: schema, password }));

/** Creates each service's role, as every deployment does. Makes the role the owner of objects that a superuser created. */
export async function prepareDatabase(databaseUrl: string): Promise<void> {
  await createServiceRoles(databaseUrl, roles, { isDedicated: false });
}

/** URL of a prepared database, with the service's role. */
export function databaseUrlFor(service: DatabaseService, databaseUrl: string): string {
  return urlOfRole(databaseUrl, { name: serviceSchemas[service], password });
}
