import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ReadLimits } from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import type { TokenScope } from './token-scopes.js';

/** Owners may do everything. Users may do everything that does not affect the whole installation. */
export type Role = 'owner' | 'user';

/**
 * The token of a request. A main token and a session have all rights of the user's role. A named token has only the rights of its scopes,
 * and never the rights of an owner.
 */
export type CallerToken = {
  id: string;
  /** Null for a main token. */
  name: string | null;
  /** Identifies the token and its current rights. Changes when the rights change. Does not reveal the key. */
  stamp: string;
  /** The events that the token may see. Undefined: all events. Only named tokens have limits. */
  limits: ReadLimits | undefined;
} & ({ kind: 'main' | 'session' } | { kind: 'named'; scopes: readonly TokenScope[] });

/** The user who sent a request, and the token of the request. */
export interface Caller {
  id: string;
  username: string;
  role: Role;
  token: CallerToken;
}

/** Whether the caller may use owner-only operations. A named token may not, even if it belongs to an owner. */
export function isOwner({ role, token }: Caller): boolean {
  return role === 'owner' && token.kind !== 'named';
}

/** The user who acts, and the address of the client, for the audit log. */
export interface Actor {
  /** Null when the user is unknown. */
  id: string | null;
  username: string | null;
  /** Null for actions on the machine itself, and when the client is unknown. */
  address: string | null;
}

const callers = new WeakMap<object, Caller | undefined>();

/** Records the user who sent a request, or undefined on a public route. */
export function setCaller(request: object, caller: Caller | undefined): void {
  callers.set(request, caller);
}

/** Returns the user who sent a request. Undefined on a public route. */
export function callerOf(request: object): Caller | undefined {
  return callers.get(request);
}

/** Whether `AccessControl` has decided the access of a request. */
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
