import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isPlatformApi } from '../http/control-access.js';
import { FaultsService } from './faults.service.js';
import { RateLimiter } from './rate-limiter.js';

// `Ratelimit-Reset` for a rate-limit fault without an end. The platform's real limit also recovers within a minute.
const rateLimitedForMs = 60_000;

@Injectable()
export class ApiFaultsService implements OnModuleDestroy {
  private readonly requests = new Map<string, number>();
  private readonly withoutReply = new WeakSet<FastifyRequest>();
  private readonly closing = new AbortController();

  constructor(
    @Inject(FaultsService) private readonly faults: FaultsService,
    @Inject(RateLimiter) private readonly limiter: RateLimiter,
  ) {
    setMaxListeners(0, this.closing.signal); // every slow response adds a listener
  }

  /** Counts of calls to the platform's API, by `METHOD path`. Unknown paths count as `other`. */
  viewRequests(): Record<string, number> {
    return Object.fromEntries(this.requests);
  }

  onModuleDestroy(): void {
    this.closing.abort();
  }

  /** Adds hooks to the server: they mark every response as simulated, and inject the faults. */
  register(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      void reply.header('X-Platform-Simulation', 'true');
      if (!isPlatformApi(request)) return done();
      this.count(request);
      if (!this.failInstead(request, reply)) done();
    });
    fastify.addHook('onSend', async (request, _reply, payload) => {
      const { mode, delayMs } = this.faults.apiAt(Date.now());
      if (mode === 'slow' && isPlatformApi(request)) await this.wait(delayMs);
      if (request.url.startsWith('/oauth2')) await this.wait(this.faults.oauthDelayMs);
      if (this.withoutReply.has(request)) request.raw.socket.destroy();
      return payload;
    });
  }

  /** Closes the connection instead of responding. Simulates a response that is lost on the way. */
  loseReply(request: FastifyRequest): void {
    this.withoutReply.add(request);
  }

  /** Returns true if the fault has replaced the response or closed the connection. */
  private failInstead(request: FastifyRequest, reply: FastifyReply): boolean {
    const { mode, untilMs } = this.faults.apiAt(Date.now());
    switch (mode) {
      case 'ok':
      case 'slow':
        return false;
      case 'down':
        reply.hijack();
        request.raw.socket.destroy();
        return true;
      case 'garbage':
        void reply.type('text/html').send('<html><body>A wild garden of bytes: {"data":[{</body></html>');
        return true;
      case 'error':
        void reply.status(500).send({ error: 'Internal Server Error', status: 500, message: '' });
        return true;
      case 'rate_limited':
        void reply
          .headers(this.limiter.empty(untilMs ?? Date.now() + rateLimitedForMs))
          .status(429)
          .send({ error: 'Too Many Requests', status: 429, message: 'Too Many Requests' });
        return true;
    }
  }

  private count({ is404, method, routeOptions }: FastifyRequest): void {
    // The route's pattern, not the path: a path can contain any file name, and each one would stay in memory.
    const route = is404 ? 'other' : `${method} ${routeOptions.url}`;
    this.requests.set(route, (this.requests.get(route) ?? 0) + 1);
  }

  private async wait(delayMs: number): Promise<void> {
    if (delayMs === 0) return;
    // If the service shuts down, stop waiting and send the response immediately.
    await delay(delayMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
  }
}
