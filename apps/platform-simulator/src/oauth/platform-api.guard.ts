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
import { AccessTokens } from './access-tokens.js';

/** Requires an access token with its client id, and applies the rate limit. */
@Injectable()
export class PlatformApiGuard implements CanActivate {
  constructor(
    @Inject(AccessTokens) private readonly tokens: AccessTokens,
    @Inject(RateLimiter) private readonly limiter: RateLimiter,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const { headers } = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const now = Date.now();
    const clientId = headers['client-id'];
    const fault = this.findFault(headers.authorization, clientId, now);
    if (fault !== null || typeof clientId !== 'string') {
      reply.headers(this.limiter.full(now));
      throw new UnauthorizedException(fault ?? 'Client ID is missing');
    }
    const { isExceeded, headers: rateLimitHeaders } = this.limiter.take(clientId, now);
    reply.headers(rateLimitHeaders);
    if (isExceeded) throw new HttpException('Too Many Requests', HttpStatus.TOO_MANY_REQUESTS);
    return true;
  }

  /** The fault in the platform's words; null for valid credentials. */
  private findFault(authorization: string | undefined, clientId: unknown, now: number): string | null {
    const token = /^(?:Bearer|OAuth) +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return 'OAuth token is missing';
    if (clientId === undefined) return 'Client ID is missing';
    const found = this.tokens.find(token, now);
    if (found === undefined) return 'Invalid OAuth token';
    return found.clientId === clientId ? null : 'Client ID and OAuth token do not match';
  }
}
