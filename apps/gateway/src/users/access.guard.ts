import {
  createParamDecorator,
  Inject,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ServiceError } from '@stream-events/contracts';
import { CONFIG } from '@stream-events/service';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../audit-log/audit-log.service.js';
import type { GatewayConfig } from '../gateway.config.js';
import { accessKey, type Access } from '../http/allow-access.decorator.js';
import { AccessTokens, hashToken, type Caller } from './access-tokens.service.js';

const callers = new WeakMap<object, Caller>();

/** The user whose token the request carries. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const caller = callers.get(context.switchToHttp().getRequest<FastifyRequest>());
  if (!caller) throw new Error('A public route has no current user.');
  return caller;
});

/** The user whose token the request carries, with the client's address, for the audit log. On a public route, the user is unknown. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const caller = callers.get(request);
  return { id: caller?.id ?? null, username: caller?.username ?? null, address: request.ip };
});

/** The hash of the request's token (see `hashToken`). */
export const CurrentTokenHash = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const key = readToken(context.switchToHttp().getRequest<FastifyRequest>().headers.authorization);
  if (key === undefined) throw new Error('A public route has no current token.');
  return hashToken(key);
});

/** Lets a request pass when its token grants the access that the route requires. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: AccessTokens,
    @Inject(CONFIG) private readonly config: GatewayConfig,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.accessOf(context);
    if (access === 'public') return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = readToken(request.headers.authorization);
    if (key === undefined)
      throw new ServiceError(
        'unauthenticated',
        'Authentication credentials were not provided: send Authorization: Token <key>.',
      );
    const caller = await this.tokens.identify(key);
    if (!caller) throw new ServiceError('unauthenticated', 'Invalid token.');
    if (access === 'owner' && caller.role !== 'owner')
      throw new ServiceError('forbidden', 'This request needs an owner’s token.');
    callers.set(request, caller);
    return true;
  }

  private accessOf(context: ExecutionContext): Exclude<Access, 'registration'> {
    const access =
      this.reflector.getAllAndOverride<Access | undefined>(accessKey, [
        context.getHandler(),
        context.getClass(),
      ]) ?? 'user';
    if (access !== 'registration') return access;
    return this.config.REGISTRATION === 'open' ? 'public' : 'owner';
  }
}

/** The key in an Authorization header: `Token <key>`. The keyword may be in upper or lower case. */
export function readToken(header: string | undefined): string | undefined {
  return /^token[ \t]+([^\s]+)[ \t]*$/i.exec(header ?? '')?.[1];
}
