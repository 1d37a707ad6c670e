import type { Logger } from '@stream-events/service';
import type { FastifyInstance } from 'fastify';

const intervalMs = 10 * 60_000;

/**
 * Warns when a request has forwarded headers that the gateway does not trust: probably, a proxy is missing in TRUST_PROXY. Then all
 * its clients have one address, and share the limits of this address. Warns once in ten minutes, because anybody can send the header.
 */
export function warnOfUntrustedProxies(fastify: FastifyInstance, logger: Logger): void {
  let nextAt = 0;
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { socket } = request.raw;
    if (
      request.headers['x-forwarded-for'] !== undefined &&
      request.ip === socket.remoteAddress &&
      performance.now() >= nextAt
    ) {
      nextAt = performance.now() + intervalMs;
      logger.warn(
        { address: socket.remoteAddress },
        'ignoring X-Forwarded-For: if this address is your proxy, add it to TRUST_PROXY; without it, all clients behind the proxy share one limit for failed logins and requests',
      );
    }
    done();
  });
}
