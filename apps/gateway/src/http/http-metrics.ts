import { Injectable } from '@nestjs/common';
import { Counter, durationBuckets, Histogram, Registry } from '@stream-events/service';
import type { FastifyInstance } from 'fastify';

/**
 * Counts HTTP requests by route pattern, such as `/api/v1/users/:user_id`, so that clients cannot create new label values. Requests without
 * a route get the route and the method `none`.
 */
@Injectable()
export class HttpMetrics {
  private readonly requestsTotal: Counter<'method' | 'route' | 'status'>;
  private readonly seconds: Histogram<'method' | 'route'>;

  constructor(metrics: Registry) {
    this.requestsTotal = new Counter({
      name: 'http_requests_total',
      help: 'HTTP requests to the public API, by method, route, and response status',
      labelNames: ['method', 'route', 'status'],
      registers: [metrics],
    });
    this.seconds = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the headers of a request to the end of its response; excludes routes whose responses stay open',
      labelNames: ['method', 'route'],
      buckets: durationBuckets,
      registers: [metrics],
    });
  }

  /**
   * Counts the requests that Fastify serves, each when its response has been written. Does not count requests whose clients disconnect
   * earlier, such as a stream that its client closes.
   */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onResponse', (request, reply, done) => {
      const { url: route, config } = request.routeOptions;
      const isKnown = route !== undefined && route !== '*';
      const method = isKnown ? request.method : 'none';
      this.requestsTotal.inc({ method, route: isKnown ? route : 'none', status: reply.statusCode });
      if (isKnown && !config.staysOpen) this.seconds.observe({ method, route }, reply.elapsedTime / 1_000);
      done();
    });
  }

  /** Counts a request that a direct route served without Fastify (`serveDirectRoutes`). */
  note(route: string, status: number, startedAtMs: number): void {
    this.requestsTotal.inc({ method: 'POST', route, status });
    this.seconds.observe({ method: 'POST', route }, (performance.now() - startedAtMs) / 1_000);
  }
}
