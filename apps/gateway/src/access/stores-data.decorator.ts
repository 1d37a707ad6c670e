import { addRouteConfig } from '../http/route-config.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    storesData?: true;
  }
}

/** Declares that a route stores data of a client: it is refused while disk space is low (see `DiskSpace`). */
export function StoresData(): MethodDecorator {
  return (_target, _name, { value }) => {
    if (typeof value === 'function') addRouteConfig(value, { storesData: true });
  };
}
