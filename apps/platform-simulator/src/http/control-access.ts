import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import {
  ForbiddenException,
  Inject,
  Injectable,
  MisdirectedException,
  UnauthorizedException,
  UnsupportedMediaTypeException,
  type HttpException,
} from '@nestjs/common';
import { CONFIG, dropTypeOfEmptyBody, hasBody } from '@stream-events/service';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SimulatorConfig } from '../platform-simulator.config.js';

/**
 * Checks every request before the body is read. Without the checks, any web page could send requests to a simulator on its visitor's
 * machine.
 *
 *   requirement                      | for                | otherwise | protects against
 *   ---------------------------------|--------------------|-----------|-------------------------------------------------
 *   `Host` names this simulator      | control API, pages | 421       | a site whose own name resolves to this machine
 *   no `Origin` of another site      | all                | 403       | forms and scripts of other sites
 *   `Origin` of this simulator       | forms of pages     | 403       | forms that come without `Origin`
 *   `Authorization: Bearer <secret>` | control API        | 401       | other programs and users of this machine
 *   JSON, if there is a body         | control API        | 415       | forms that come without `Origin`
 *
 * "Pages" are the consent pages, which a browser on this machine opens without a secret. The platform's API has its own access tokens, and
 * accepts any host name. All other paths are the control API.
 */
@Injectable()
export class ControlAccess {
  private readonly secretHash: Buffer;

  constructor(@Inject(CONFIG) private readonly config: SimulatorConfig) {
    this.secretHash = digest(config.SIMULATOR_CONTROL_SECRET);
  }

  register(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      dropTypeOfEmptyBody(request.raw);
      const refusal = this.findRefusal(request);
      if (refusal instanceof UnauthorizedException) void reply.header('WWW-Authenticate', 'Bearer');
      done(refusal);
    });
  }

  /** Whether the request comes from a page of another site. */
  isForeignOrigin({ headers: { host = '', origin }, socket }: IncomingMessage): boolean {
    return origin !== undefined && !(this.isOwnHost(host, socket.localPort) && origin === `http://${host}`);
  }

  private findRefusal(request: FastifyRequest): HttpException | undefined {
    const { host = '', origin } = request.headers;
    const isPage = isConsentPage(request);
    const isControl = !isPage && !isPlatformApi(request);
    const isOwnHost = this.isOwnHost(host, request.socket.localPort);
    if ((isControl || isPage) && !isOwnHost)
      return new MisdirectedException(
        `${host} does not name this simulator: use its port with localhost, 127.0.0.1, or the address in HOST`,
      );
    const needsOrigin = isPage && request.method !== 'GET';
    if (this.isForeignOrigin(request.raw) || (needsOrigin && origin === undefined))
      return new ForbiddenException(
        `web pages of ${origin ?? 'an unknown origin'} may not use the simulator`,
      );
    if (!isControl) return undefined;
    if (!this.hasSecret(request))
      return new UnauthorizedException('send the control secret as Authorization: Bearer <secret>');
    if (!isJsonOrEmpty(request))
      return new UnsupportedMediaTypeException('send the body as application/json');
    return undefined;
  }

  private isOwnHost(host: string, port: number | undefined): boolean {
    const { HOST } = this.config;
    const names = ['localhost', '127.0.0.1', '[::1]', isIPv6(HOST) ? `[${HOST}]` : HOST];
    return names.some((name) => host === `${name}:${port}` || (port === 80 && host === name));
  }

  private hasSecret({ headers }: FastifyRequest): boolean {
    const [, given = ''] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
    // `timingSafeEqual` needs equal lengths, so compare hashes.
    return timingSafeEqual(digest(given), this.secretHash);
  }
}

/** Pictures count as part of the platform's API. */
export function isPlatformApi({ url }: FastifyRequest): boolean {
  return /^\/(helix|oauth2|pictures\/)/.test(url);
}

/** Whether the request is for a page on which a user consents. */
function isConsentPage({ url }: FastifyRequest): boolean {
  return /^\/(oauth2\/authorize|activate)(\?|$)/.test(url);
}

function isJsonOrEmpty(request: FastifyRequest): boolean {
  const type = request.headers['content-type'];
  return type === undefined ? !hasBody(request) : /^application\/json *(;|$)/i.test(type);
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
