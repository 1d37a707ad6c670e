import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isDecided } from './caller.js';

/** Rejects requests that `AccessControl` has not checked, because their route lacks `AllowAccess`. */
@Injectable()
export class AccessGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!isDecided(request)) throw new Error(`The route ${request.routeOptions.url} lacks @AllowAccess.`);
    return true;
  }
}
