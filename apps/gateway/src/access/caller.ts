import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ReadLimits } from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import type { TokenScope } from './token-scopes.js';

/** Owners may do everything. Users may do everything that does not affect the whole installation. */
export type Role = 'owner' | 'user';

/**
 * The token of a request. A main token and a session have all rights of the user's role. A named token has the rights that it
 * was created with, and never those of an owner.
 */
export type CallerToken = {
  id: string;
  /** Null for a main token. */
  name: string | null;
  /** Identifies the token with its present rights. Does not reveal the key. Changes when the rights change. */
  stamp: string;
  /** The events that the token may see. Undefined: all events. Only named tokens have limits. */
  limits: ReadLimits | undefined;
} & ({ kind: 'main' | 'session' } | { kind: 'named'; scopes: readonly TokenScope[] });

/** The user that a request comes from, and the token that it carries. */
export interface Caller {
  id: string;
  username: string;
  role: Role;
  token: CallerToken;
}

/** Whether the caller may use operations of owners, which named tokens may not. */
export function isOwner({ role, token }: Caller): boolean {
  return role === 'owner' && token.kind !== 'named';
}

/** A user, and the address from which the user acts, for the audit log. */
export interface Actor {
  /** Null when the user is unknown. */
  id: string | null;
  username: string | null;
  /** Null on the machine itself. */
  address: string | null;
}

const callers = new WeakMap<object, Caller | undefined>();

/** Notes who sent a request: undefined on a public route. */
export function setCaller(request: object, caller: Caller | undefined): void {
  callers.set(request, caller);
}

/** The user who sent a request. Undefined on a public route. */
export function callerOf(request: object): Caller | undefined {
  return callers.get(request);
}

/** Whether the access of a request has been decided. */
export function isDecided(request: object): boolean {
  return callers.has(request);
}

/** The user whose token the request carries. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const caller = callerOf(context.switchToHttp().getRequest<FastifyRequest>());
  if (!caller) throw new Error('A public route has no current user.');
  return caller;
});

/** The user whose token the request carries, with the client's address, for the audit log. On a public route, the user is unknown. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const caller = callerOf(request);
  return { id: caller?.id ?? null, username: caller?.username ?? null, address: request.ip };
});
