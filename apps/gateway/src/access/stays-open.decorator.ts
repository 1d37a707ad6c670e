import { addRouteConfig } from '../http/route-config.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    staysOpen?: true;
  }
}

/** Declares that the responses of a route stay open for long. They have limits of their own, and take no turn (see `UserTurns`). */
export function StaysOpen(): MethodDecorator {
  return (_target, _name, { value }) => {
    if (typeof value === 'function') addRouteConfig(value, { staysOpen: true });
  };
}
