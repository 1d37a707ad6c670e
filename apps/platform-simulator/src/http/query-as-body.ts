import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';

/**
 * Accepts body fields as query parameters too. The platform does this, and client libraries rely on it (docs/platform-facts.md §3, §4.1).
 */
@Injectable()
export class QueryAsBody implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    request.body = { ...Object(request.query), ...Object(request.body) } as Record<string, unknown>; // Safe cast: an object literal.
    return next.handle();
  }
}
