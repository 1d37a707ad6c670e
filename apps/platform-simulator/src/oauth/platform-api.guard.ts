import {
  HttpException,
  HttpStatus,
  Inject,
  Injectable,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RateLimiter } from '../limits/rate-limiter.js';
import { AccessTokens, readBearer, type TokenOwner } from './access-tokens.js';
import { rememberCaller } from './caller.js';

/** Requires an access token and the matching client id. Applies the rate limit. */
@Injectable()
export class PlatformApiGuard implements CanActivate {
  constructor(
    @Inject(AccessTokens) private readonly tokens: AccessTokens,
    @Inject(RateLimiter) private readonly limiter: RateLimiter,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const now = Date.now();
    const caller = this.identify(request, now);
    if (typeof caller === 'string') {
      reply.headers(this.limiter.full(now));
      throw new UnauthorizedException(caller);
    }
    rememberCaller(request, caller);
    const { clientId, userId } = caller;
    // One bucket per application, plus one per application and user (docs/platform-facts.md §4.2).
    const bucket = userId === null ? clientId : JSON.stringify([clientId, userId]);
    const { isExceeded, headers: rateLimitHeaders } = this.limiter.take(bucket, now);
    reply.headers(rateLimitHeaders);
    if (isExceeded) throw new HttpException('Too Many Requests', HttpStatus.TOO_MANY_REQUESTS);
    return true;
  }

  /** Returns the token's owner, or an error message in the platform's wording. */
  private identify({ headers }: FastifyRequest, now: number): TokenOwner | string {
    const token = readBearer(headers.authorization);
    const clientId = headers['client-id'];
    if (token === undefined) return 'OAuth token is missing';
    if (clientId === undefined) return 'Client ID is missing';
    const found = this.tokens.find(token, now);
    if (found === undefined) return 'Invalid OAuth token';
    return found.clientId === clientId ? found : 'Client ID and OAuth token do not match';
  }
}
