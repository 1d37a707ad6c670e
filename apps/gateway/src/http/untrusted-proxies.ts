import type { Logger } from '@stream-events/service';
import type { FastifyInstance } from 'fastify';

const intervalMs = 10 * 60_000;

/**
 * Warns when a request has forwarded headers that the gateway does not trust. A proxy is probably missing in TRUST_PROXY, so that all its
 * clients share the limits of its address. Warns at most once in 10 minutes, because anybody can send the header.
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
        'ignoring X-Forwarded-For from an untrusted address. If this is the address of your proxy, add it to TRUST_PROXY. Until then, all clients behind the proxy share one limit for failed logins and requests',
      );
    }
    done();
  });
}
