import { applyDecorators } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { ApiExtension, ApiSecurity } from '@nestjs/swagger';
import { RefusesWith, tokenScheme } from '../http/api-decorators.js';
import { addRouteConfig, routeConfigOf } from '../http/route-config.js';
import { tokenScopes, type TokenScope } from './token-scopes.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
}

type Handler = (...parameters: never[]) => unknown;

interface Method {
  prototype: object;
  name: string | symbol;
  descriptor: TypedPropertyDescriptor<Handler>;
}

const refusals = {
  registration: 'The token does not belong to an owner, or is a named token',
  token: undefined,
  account: 'The token is a named token, but this operation needs a main token or a session',
  owner: 'The token does not belong to an owner, or is a named token',
  caller: 'The token does not belong to an owner, or is a named token without `platform:call`',
};

/**
 * Who can use a route:
 *
 * - `public`: anybody
 * - `registration`: anybody if `REGISTRATION` is `open`, otherwise owners with their main token or a session
 * - `token`: everybody with a valid token
 * - `account`: users with their main token or a session
 * - `owner`: owners with their main token or a session
 * - `caller`: owners with their main token, a session, or a named token with `platform:call`
 * - a list of scopes: users with their main token or a session, and named tokens with all these scopes
 */
export type Access = 'public' | keyof typeof refusals | readonly TokenScope[];

/**
 * Declares who can use a route, and documents this in the API description. On a controller, it applies to all routes without their own
 * declaration. Every route needs a declaration: `AccessGuard` rejects requests to a route without one.
 */
export function AllowAccess(names: Access | TokenScope): ClassDecorator & MethodDecorator {
  const access = isScope(names) ? [names] : names;
  return (target: object, name?: string | symbol, descriptor?: PropertyDescriptor) => {
    if (name !== undefined && descriptor) {
      declare(access, { prototype: target, name, descriptor });
      return;
    }
    const { prototype } = target as { prototype: object }; // Safe cast: without a name, the decorator is on a class.
    for (const method of undeclaredRoutesOf(prototype)) declare(access, method);
  };
}

/** The scopes that a named token needs. */
function scopesOf(access: Access): TokenScope[] {
  if (access === 'caller') return ['platform:call'];
  return typeof access === 'string' ? [] : [...access];
}

function isScope(names: Access | TokenScope): names is TokenScope {
  return typeof names === 'string' && names in tokenScopes;
}

function undeclaredRoutesOf(prototype: object): Method[] {
  return Object.entries(Object.getOwnPropertyDescriptors(prototype))
    .map(([name, descriptor]): Method => ({ prototype, name, descriptor }))
    .filter(({ descriptor: { value } }) => value && Reflect.hasMetadata(PATH_METADATA, value))
    .filter(({ descriptor: { value } }) => value && routeConfigOf(value).access === undefined);
}

function declare(access: Access, { prototype, name, descriptor }: Method): void {
  if (descriptor.value) addRouteConfig(descriptor.value, { access });
  describe(access)(prototype, name, descriptor);
}

/** Adds the access to the API description. docs/access.md is generated from `x-access`. */
function describe(access: Access): MethodDecorator {
  const extension = ApiExtension('x-access', access);
  if (access === 'public') return extension;
  const forbidden =
    typeof access === 'string'
      ? refusals[access]
      : `The token lacks ${access.map((scope) => `\`${scope}\``).join(' or ')}`;
  return applyDecorators(
    extension,
    ApiSecurity(tokenScheme, scopesOf(access)),
    RefusesWith({
      unauthenticated: 'The token is missing or invalid',
      ...(forbidden !== undefined && { forbidden }),
      too_many_requests: 'You are sending too many requests or writes per second',
      unavailable: 'A part of the service that this request needs is down',
    }),
  );
}
