import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ReadLimits } from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import type { TokenScope } from './token-scopes.js';

/** Owners can do everything. Users can do everything except the operations that are for owners only. */
export type Role = 'owner' | 'user';

/**
 * The token of a request. Main tokens and sessions have all rights of the user's role. A named token has only the rights of its scopes,
 * even if its user is an owner.
 */
export type CallerToken = {
  id: string;
  /** Null for a main token. */
  name: string | null;
  /**
   * Identifies the token and its current scopes and limits, without revealing the key. Changes when the scopes or limits change, but not
   * when the role of the user changes.
   */
  stamp: string;
  /** Limits which events the token can read. Only named tokens have limits. */
  limits: ReadLimits;
} & ({ kind: 'main' | 'session' } | { kind: 'named'; scopes: readonly TokenScope[] });

/** The user and the token of an authenticated request. */
export interface Caller {
  id: string;
  username: string;
  role: Role;
  token: CallerToken;
}

/** Whether the caller can use owner-only operations. Named tokens cannot, even those of owners. */
export function isOwner({ role, token }: Caller): boolean {
  return role === 'owner' && token.kind !== 'named';
}

/** Whether the token has the rights of a scope. Main tokens and sessions have the rights of all scopes. */
export function hasScope(token: CallerToken, scope: TokenScope): boolean {
  return token.kind !== 'named' || token.scopes.includes(scope);
}

/** The parts of a caller that limits depend on. */
export type LimitedCaller = Pick<Caller, 'id'> & { token: Pick<CallerToken, 'id' | 'kind'> };

/** A user or a named token whose limits a caller's work is charged to. */
export interface Payer {
  /** The id of the user or the token. */
  id: string;
  /** The share of the user's limits that the payer can use, above 0 and at most 1. */
  share: number;
}

/** The share of its user's limits that a named token can use. A leaked token leaves the rest to its user, who can then revoke the token. */
export const namedTokenShare = 0.5;

/** Returns who pays for a caller's work: the user and, out of its share of the user's limits, the named token. */
export function payersOf({ id, token }: LimitedCaller): Payer[] {
  const user = { id, share: 1 };
  return token.kind === 'named' ? [{ id: token.id, share: namedTokenShare }, user] : [user];
}

/** Returns a payer's share of a limit that is a whole number. At least 1. */
export function shareOf(limit: number, { share }: Payer): number {
  return Math.max(1, Math.floor(limit * share));
}

/** Who performed an action, for the audit log. */
export interface Actor {
  /** Null if the user is unknown. */
  id: string | null;
  username: string | null;
  /** Null for actions on the server itself, or if the client is unknown. */
  address: string | null;
}

const callers = new WeakMap<object, Caller | undefined>();

/** Stores the caller of a request: undefined if the route needs no token. */
export function setCaller(request: object, caller: Caller | undefined): void {
  callers.set(request, caller);
}

/** Undefined if the route needs no token. */
export function callerOf(request: object): Caller | undefined {
  return callers.get(request);
}

/** Whether `AccessControl` has checked the request. */
export function isDecided(request: object): boolean {
  return callers.has(request);
}

/** The user and the token of the current request. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const caller = callerOf(context.switchToHttp().getRequest<FastifyRequest>());
  if (!caller) throw new Error('A public route has no current user.');
  return caller;
});

/** The user of the current request and the client's address, for the audit log. If the route needs no token, the user is unknown. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const caller = callerOf(request);
  return { id: caller?.id ?? null, username: caller?.username ?? null, address: request.ip };
});
