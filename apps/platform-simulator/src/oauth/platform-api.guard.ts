import {
  createParamDecorator,
  HttpException,
  HttpStatus,
  Inject,
  Injectable,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RateLimiter } from '../behavior/rate-limiter.js';
import { readBearer, Tokens, type TokenOwner } from './tokens.js';

const callers = new WeakMap<FastifyRequest, TokenOwner>();

/** Requires an access token and the matching client id. Applies the rate limit. */
@Injectable()
export class PlatformApiGuard implements CanActivate {
  constructor(
    @Inject(Tokens) private readonly tokens: Tokens,
    @Inject(RateLimiter) private readonly limiter: RateLimiter,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const now = Date.now();
    const caller = this.identify(request);
    if (typeof caller === 'string') {
      reply.headers(this.limiter.full(now));
      throw new UnauthorizedException(caller);
    }
    callers.set(request, caller);
    const { clientId, userId } = caller;
    // One bucket per application, plus one per application and user (FACTS.md §4.2).
    const bucket = userId === null ? clientId : JSON.stringify([clientId, userId]);
    const { isExceeded, headers: rateLimitHeaders } = this.limiter.take(bucket, now);
    reply.headers(rateLimitHeaders);
    if (isExceeded) throw new HttpException('Too Many Requests', HttpStatus.TOO_MANY_REQUESTS);
    return true;
  }

  /** Returns the token's owner, or an error message in the platform's wording. */
  private identify({ headers }: FastifyRequest): TokenOwner | string {
    const token = readBearer(headers.authorization);
    const clientId = headers['client-id'];
    if (token === undefined) return 'OAuth token is missing';
    if (clientId === undefined) return 'Client ID is missing';
    const found = this.tokens.find(token);
    if (found === undefined) return 'Invalid OAuth token';
    return found.clientId === clientId ? found : 'Client ID and OAuth token do not match';
  }
}

/** The owner of the request's access token, which PlatformApiGuard has checked. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): TokenOwner => {
  const caller = callers.get(context.switchToHttp().getRequest<FastifyRequest>());
  if (!caller) throw new UnauthorizedException('OAuth token is missing');
  return caller;
});

/**
 * For conduits and authorizations, which need an app access token (FACTS.md §3, §4.1).
 *
 * @throws UnauthorizedException for a user access token
 */
export function requireAppToken({ userId }: TokenOwner): void {
  if (userId !== null) throw new UnauthorizedException('an app access token is required');
}
