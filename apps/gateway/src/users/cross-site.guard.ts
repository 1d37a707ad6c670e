import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { CONFIG } from '@stream-events/service';
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../access/caller.js';
import type { GatewayConfig } from '../gateway.config.js';

/**
 * Rejects requests without a token that a web page of another site sends, unless `CORS_ORIGINS` names the page's origin. Failed logins and
 * registrations count toward limits of the visitor's address, so any page that a user visits could otherwise lock the user out. A page
 * cannot send a token that it does not know, so requests with a token need no such check.
 */
@Injectable()
export class CrossSiteGuard implements CanActivate {
  constructor(@Inject(CONFIG) private readonly config: Pick<GatewayConfig, 'CORS_ORIGINS' | 'PUBLIC_URL'>) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (callerOf(request) || !this.isCrossSite(request)) return true;
    throw new ServiceError(
      'forbidden',
      'A web page of another site sent this request. To allow the page, add its origin to CORS_ORIGINS; `*` does not allow it.',
    );
  }

  private isCrossSite({ headers, host }: FastifyRequest): boolean {
    const { CORS_ORIGINS, PUBLIC_URL } = this.config;
    const { origin } = headers;
    if (origin !== undefined && CORS_ORIGINS.includes(origin)) return false;
    // Browsers send this header only to addresses with HTTPS and to this machine.
    const site = headers['sec-fetch-site'];
    if (site !== undefined) return site === 'cross-site';
    if (origin === undefined) return false;
    // A proxy can replace the Host header, so PUBLIC_URL counts too.
    const ownHosts = [hostOf(`http://${host}`), PUBLIC_URL && hostOf(PUBLIC_URL)];
    const originHost = hostOf(origin);
    return originHost === undefined || !ownHosts.includes(originHost);
  }
}

/** The host and port of a URL. Undefined for anything else, such as the origin `null` of a sandboxed page. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}
