import type { Logger } from '@stream-events/service';
import type { FastifyInstance } from 'fastify';

const intervalMs = 10 * 60_000;

/**
 * Warns when a request carries X-Forwarded-For from an untrusted address. A proxy is then probably missing from TRUST_PROXY, and all
 * clients behind the proxy share one set of limits. Warns at most once in 10 minutes, because any client can send the header.
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
        'ignoring X-Forwarded-For from an untrusted address. If this is the address of your proxy, add it to TRUST_PROXY. Until then, all clients behind the proxy count as one address and share its limits',
      );
    }
    done();
  });
}
