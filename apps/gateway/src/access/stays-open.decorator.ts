import { addRouteConfig } from '../http/route-config.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    staysOpen?: true;
  }
}

/**
 * Marks a route whose responses stay open: the event stream and the export. These responses have their own limits and use no turn
 * (`UserTurns`). `AccessControl` checks the token once, when the request arrives.
 */
export function StaysOpen(): MethodDecorator {
  return (_target, _name, { value }) => {
    if (typeof value === 'function') addRouteConfig(value, { staysOpen: true });
  };
}
