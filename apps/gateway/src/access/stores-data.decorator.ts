import { addRouteConfig } from '../http/route-config.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    storesData?: true;
    /** What `StorageLimits` counts for each request to the route. */
    storedBytes?: number;
  }
}

// A new record, and its entries in the audit log when it is created, changed, and deleted. The limits on the number of records do not bound
// these entries, because a user can delete a record and create another one.
export const recordBytes = 1_024;

/**
 * Marks a route that stores client data. `DiskSpace` rejects requests to the route while disk space is low. `StorageLimits` counts `bytes`
 * for each request; leave them out if the handler counts what it stores.
 */
export function StoresData(bytes = 0): MethodDecorator {
  return (_target, _name, { value }) => {
    if (typeof value === 'function') addRouteConfig(value, { storesData: true, storedBytes: bytes });
  };
}
