import type { IncomingMessage } from 'node:http';
import { parseTraceparent, type Span, type Tracing } from '@stream-events/service';
import type { FastifyInstance } from 'fastify';
import type { TrustProxy } from '../gateway.config.js';
import { trustRule, type IsTrusted } from './client-address.js';
import { whenClosed } from './client-limits.js';

/** Starts and ends the spans of HTTP requests. */
export class RequestTraces {
  private readonly isTrusted: IsTrusted;

  constructor(
    private readonly tracing: Tracing,
    trustProxy: TrustProxy,
  ) {
    this.isTrusted = trustRule(trustProxy);
  }

  /**
   * Starts the span of a request and stores it under the request id. Continues a trace only for a trusted proxy: any other client could
   * otherwise force tracing of its requests. Returns undefined if the trace is not sampled.
   */
  start(request: IncomingMessage, { id, route }: { id: string; route: string }): Span | undefined {
    const { method = '', headers, socket } = request;
    const { traceparent } = headers;
    const isContinued = traceparent !== undefined && this.isTrusted(socket.remoteAddress ?? '', 0);
    const span = this.tracing.start(`${method} ${route}`, {
      kind: 'server',
      parent: isContinued ? parseTraceparent(String(traceparent)) : undefined,
      attributes: { 'http.request.method': method, 'http.route': route, 'http.request.id': id },
    });
    if (span) this.tracing.keep(id, span);
    return span;
  }

  /** Ends the span, if the request has one. */
  end(id: string, status: number): void {
    const attributes = { 'http.response.status_code': status };
    const error = status >= 500 ? `HTTP ${status}` : undefined;
    this.tracing.take(id)?.end({ attributes, ...(error !== undefined && { error }) });
  }
}

export function traceRequests(fastify: FastifyInstance, traces: RequestTraces): void {
  fastify.addHook('onRequest', ({ raw, id, routeOptions }, reply, done) => {
    if (traces.start(raw, { id, route: routeOptions.url ?? '' }))
      whenClosed(reply.raw, (status) => traces.end(id, status));
    done();
  });
}
