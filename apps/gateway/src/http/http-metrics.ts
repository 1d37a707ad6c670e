import { Injectable } from '@nestjs/common';
import { Registry, type Counter, type Histogram } from '@stream-events/service';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { clientDisconnected, whenClosed } from './client-limits.js';
import { gatewayMetrics } from '../metrics.js';

/**
 * Counts HTTP requests by route pattern, such as `/api/v1/users/:id`, so that clients cannot create new label values. Requests without
 * a route get the route and the method `none`.
 */
@Injectable()
export class HttpMetrics {
  private readonly requestsTotal: Counter<'method' | 'route' | 'status'>;
  private readonly seconds: Histogram<'method' | 'route'>;
  private readonly counted = new WeakSet<FastifyRequest>();

  constructor(metrics: Registry) {
    this.requestsTotal = gatewayMetrics.http_requests_total.create(metrics);
    this.seconds = gatewayMetrics.http_request_duration_seconds.create(metrics);
  }

  /** Counts the requests that Fastify serves, each when its response has been written or its client has disconnected. */
  watch(fastify: FastifyInstance): void {
    // Use two hooks, because each one misses some requests: `onRequest` misses those that an earlier hook rejects, and `onResponse` misses
    // those whose response is cut.
    fastify.addHook('onRequest', (request, { raw }, done) => {
      whenClosed(raw, (status) => this.count(request, status));
      done();
    });
    fastify.addHook('onResponse', (request, reply, done) => {
      this.count(request, reply.statusCode, reply.elapsedTime);
      done();
    });
  }

  /** Counts a request that a direct route served without Fastify (`DirectRoutes`). */
  note(route: string, status: number, startedAtMs: number): void {
    this.requestsTotal.inc({ method: 'POST', route, status });
    if (status === clientDisconnected) return;
    this.seconds.observe({ method: 'POST', route }, (performance.now() - startedAtMs) / 1_000);
  }

  private count(request: FastifyRequest, status: number, elapsedMs?: number): void {
    if (this.counted.has(request)) return;
    this.counted.add(request);
    const { method, routeOptions } = request;
    const { url: route, config } = routeOptions;
    if (route === undefined || route === '*') {
      this.requestsTotal.inc({ method: 'none', route: 'none', status });
      return;
    }
    this.requestsTotal.inc({ method, route, status });
    if (elapsedMs !== undefined && !config.staysOpen)
      this.seconds.observe({ method, route }, elapsedMs / 1_000);
  }
}
