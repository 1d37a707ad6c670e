export { canLogIn, isPermissionError } from './log-in.js';
export {
  databaseOf,
  roleNameOf,
  serviceSchemas,
  urlOfRole,
  type DatabaseService,
  type ServiceRole,
} from './service-role.js';
export { createServiceRoles, type RolesOptions } from './service-roles.js';
