import { addRouteConfig } from '../http/route-config.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    storesData?: true;
  }
}

/** Marks a route that stores client data. `DiskSpace` rejects requests to the route while disk space is low. */
export function StoresData(): MethodDecorator {
  return (_target, _name, { value }) => {
    if (typeof value === 'function') addRouteConfig(value, { storesData: true });
  };
}
