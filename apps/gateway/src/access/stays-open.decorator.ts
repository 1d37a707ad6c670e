import { addRouteConfig } from '../http/route-config.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    staysOpen?: true;
  }
}

/**
 * Declares that responses of a route stay open for a long time. These responses have their own limits, and their requests use no turn (see
 * `UserTurns`).
 */
export function StaysOpen(): MethodDecorator {
  return (_target, _name, { value }) => {
    if (typeof value === 'function') addRouteConfig(value, { staysOpen: true });
  };
}
