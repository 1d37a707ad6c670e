import { createParamDecorator, UnauthorizedException, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { TokenOwner } from './access-tokens.js';

const callers = new WeakMap<FastifyRequest, TokenOwner>();

/** Stores the owner of the access token for `Caller`. */
export function rememberCaller(request: FastifyRequest, caller: TokenOwner): void {
  callers.set(request, caller);
}

/** The owner of the request's access token, which PlatformApiGuard has checked. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): TokenOwner => {
  const caller = callers.get(context.switchToHttp().getRequest<FastifyRequest>());
  if (!caller) throw new UnauthorizedException('OAuth token is missing');
  return caller;
});

/**
 * For conduits and authorizations, which need an app access token (docs/platform-facts.md §3, §4.1).
 *
 * @throws UnauthorizedException for a user access token
 */
export function requireAppToken({ userId }: TokenOwner): void {
  if (userId !== null) throw new UnauthorizedException('an app access token is required');
}
