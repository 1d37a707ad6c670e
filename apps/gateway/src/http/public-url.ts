import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import type { FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../gateway.config.js';

/** Builds absolute URLs for clients, from `PUBLIC_URL` or from the address that the client used. */
@Injectable()
export class PublicUrl {
  constructor(@Inject(CONFIG) private readonly config: GatewayConfig) {}

  /** `path` may include a query. */
  of(request: FastifyRequest, path: string): string {
    return (this.config.PUBLIC_URL ?? addressUsed(request)) + path;
  }
}

function addressUsed(request: FastifyRequest): string {
  // The client controls the headers behind `protocol` and `host`: use only values that look like a scheme and a host.
  const scheme = request.protocol === 'https' ? 'https' : 'http';
  const host: string | undefined = request.host;
  if (host && /^[\w.-]+(:\d+)?$|^\[[\da-fA-F:.]+\](:\d+)?$/.test(host)) return `${scheme}://${host}`;
  const { localAddress = '127.0.0.1', localPort = 80 } = request.socket;
  return `${scheme}://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}
