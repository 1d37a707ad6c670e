import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import type { FastifyContextConfig } from 'fastify';

/** Adds fields to a route's Fastify configuration. Nest's own `RouteConfig` would discard the fields that other decorators added. */
export function addRouteConfig(handler: object, fields: FastifyContextConfig): void {
  const known = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as
    FastifyContextConfig | undefined; // Safe cast: only this function sets the value.
  Reflect.defineMetadata(FASTIFY_ROUTE_CONFIG_METADATA, { ...known, ...fields }, handler);
}

export function routeConfigOf(handler: object): FastifyContextConfig {
  return (Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) ?? {}) as FastifyContextConfig; // Safe cast: `addRouteConfig` set the value.
}
