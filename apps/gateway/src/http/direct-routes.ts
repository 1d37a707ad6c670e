import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceError } from '@stream-events/contracts';
import type { FastifyInstance } from 'fastify';
import { whenClosed, type ClientLimits } from './client-limits.js';
import { hasOneHost } from './host-header.js';
import { maxBodyBytes } from './http-limits.js';
import { allPathsOf } from './paths.js';
import { toServiceError, writeProblem } from './problem.js';
import type { RequestTraces } from './trace-requests.js';

/** A response without a body, or with plain text. */
export type DirectResponse = { status: 204 } | { status: 200; body: string };

/** Handles requests to a hot route: the webhook that receives signed platform messages. */
export interface DirectRoute {
  /**
   * @param id the request id, for logs and traces
   * @throws ServiceError
   */
  handle(request: IncomingMessage, body: Buffer, id: string): Promise<DirectResponse>;
  /** The path pattern that names the route in logs, metrics, and traces. */
  pattern: string;
  /** Called once the response has been sent or the client has disconnected (`whenClosed`). */
  onClosed(status: number, startedAtMs: number): void;
  onFailed(error: ServiceError, request: { id: string; method: string; route: string }): void;
}

const routesOf = new WeakMap<FastifyInstance, DirectRoutes>();

/**
 * Serves ordinary requests to hot routes without Fastify and Nest, which would take a third of the gateway's CPU time for routing, hooks,
 * and guards. Fastify has the same routes and serves every other request to them:
 *
 * ```
 *  request ──▶ POST to a direct route, JSON with a length within the limit, one Host,
 *              and no Origin or Expect?  ──yes──▶ limits ──▶ body ──▶ handler ──▶ response
 *                                │ no
 *                                ▼
 *                             Fastify: queries, CORS, other bodies and methods, HTTP errors
 * ```
 */
export class DirectRoutes {
  private readonly routes = new Map<string, DirectRoute>();

  constructor(
    private readonly clients: ClientLimits,
    private readonly traces?: RequestTraces,
  ) {}

  /** Lets `addDirectRoute` find these routes. */
  belongTo(fastify: FastifyInstance): void {
    routesOf.set(fastify, this);
  }

  add(path: string, route: DirectRoute): void {
    for (const each of allPathsOf(path)) this.routes.set(each, route);
  }

  /** Returns false if the request is not for a direct route. */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    const route = this.routes.get(request.url ?? '');
    if (!route || !isOrdinary(request)) return false;
    this.run(route, request, response);
    return true;
  }

  private run(route: DirectRoute, request: IncomingMessage, response: ServerResponse): void {
    const id = randomUUID();
    const startedAt = performance.now();
    const span = this.traces?.start(request, { id, route: route.pattern });
    whenClosed(response, (status) => {
      if (span) this.traces?.end(id, status);
      route.onClosed(status, startedAt);
    });
    const fail = (thrown: unknown): void => {
      const error = toServiceError(thrown);
      route.onFailed(error, { id, method: 'POST', route: route.pattern });
      writeProblem(response, error, { 'X-Request-Id': id });
    };
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    // After a broken connection, Node never emits `end`. No client then waits for a response.
    request.on('end', () => {
      if (response.headersSent) return; // the body has been refused
      const [first = Buffer.alloc(0), ...others] = chunks;
      const body = others.length === 0 ? first : Buffer.concat(chunks);
      route.handle(request, body, id).then((answer) => respond(response, answer, id), fail);
    });
    this.clients.watchBody(request, 'messageBodies', (error) =>
      writeProblem(response, error, { 'X-Request-Id': id, Connection: 'close' }),
    );
  }
}

/** Adds a direct route for POST requests. Register the same route in Fastify, which serves the requests that the direct route declines. */
export function addDirectRoute(fastify: FastifyInstance, path: string, route: DirectRoute): void {
  routesOf.get(fastify)?.add(path, route);
}

function isOrdinary(request: IncomingMessage): boolean {
  const { method, headers } = request;
  const length = Number(headers['content-length']);
  return (
    method === 'POST' &&
    headers['content-type'] === 'application/json' &&
    length > 0 &&
    length <= maxBodyBytes &&
    headers.origin === undefined &&
    headers.expect === undefined &&
    hasOneHost(request)
  );
}

function respond(response: ServerResponse, answer: DirectResponse, id: string): void {
  if (answer.status === 204)
    response.writeHead(204, { 'X-Request-Id': id, 'Cache-Control': 'no-store' }).end();
  else
    response
      .writeHead(200, {
        'X-Request-Id': id,
        'Cache-Control': 'no-store',
        'Content-Type': 'text/plain; charset=utf-8',
        'Content-Length': Buffer.byteLength(answer.body),
      })
      .end(answer.body);
}
