import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceError } from '@stream-events/contracts';
import type { FastifyInstance } from 'fastify';
import type { BodyLimits } from './body-limits.js';
import { whenClosed } from './closed-responses.js';
import { whenBodyIsRead } from './early-responses.js';
import { hasOneHost } from './host-header.js';
import { maxBodyBytes } from './http-limits.js';
import { allPathsOf } from './paths.js';
import { toServiceError, writeProblem } from './problem.js';
import { tooManyRequests, type Admit } from './requests-in-progress.js';
import type { Gate } from './request-gate.js';
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

/** The limits and traces of direct routes. Requests that Fastify serves have the same ones. */
export interface DirectRouteOptions {
  gate: Gate;
  admit: Admit;
  bodies: BodyLimits;
  /** Undefined when traces are off. */
  traces?: RequestTraces | undefined;
}

const routesOf = new WeakMap<FastifyInstance, Map<string, DirectRoute>>();

/**
 * Serves ordinary requests to hot routes without Fastify and Nest, which would take a third of the gateway's CPU time for routing, hooks,
 * and guards. Fastify has the same routes and serves every other request to them:
 *
 * ```
 *  request ──▶ POST to a direct route, JSON with a length within the limit, one Host,
 *              no Origin or Expect, and the server is not closing?  ──yes──▶ limits ──▶ body ──▶ handler ──▶ response
 *                                │ no
 *                                ▼
 *                             Fastify: queries, CORS, other bodies and methods, HTTP errors
 * ```
 */
export function serveDirectRoutes(fastify: FastifyInstance, options: DirectRouteOptions): void {
  const routes = new Map<string, DirectRoute>();
  routesOf.set(fastify, routes);
  let isClosing = false;
  fastify.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  const { server } = fastify;
  const listeners = server.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[]; // Safe cast: Node calls `request` listeners with these arguments.
  server.removeAllListeners('request');
  const serveRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const found = isClosing ? undefined : routes.get(request.url ?? '');
    if (found && isOrdinary(request)) serve(found, { request, response }, options);
    else for (const listener of listeners) listener.call(server, request, response);
  };
  server.on('request', (request, response) => options.gate(request, response, serveRequest));
}

/** Adds a direct route for POST requests. Register the same route in Fastify, which serves the requests that the direct route declines. */
export function addDirectRoute(fastify: FastifyInstance, path: string, route: DirectRoute): void {
  for (const each of allPathsOf(path)) routesOf.get(fastify)?.set(each, route);
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

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

function serve(
  route: DirectRoute,
  { request, response }: Exchange,
  { admit, bodies, traces }: DirectRouteOptions,
): void {
  const id = randomUUID();
  const startedAt = performance.now();
  const span = traces?.start(request, { id, route: route.pattern });
  whenClosed(response, (status) => {
    if (span) traces?.end(id, status);
    route.onClosed(status, startedAt);
  });
  const refuse = (error: ServiceError): void => {
    whenBodyIsRead(request, (isRead) =>
      writeProblem(response, error, { 'X-Request-Id': id, ...(!isRead && { Connection: 'close' }) }),
    );
  };
  const fail = (thrown: unknown): void => {
    const error = toServiceError(thrown);
    route.onFailed(error, { id, method: 'POST', route: route.pattern });
    refuse(error);
  };
  if (!admit(request, response, 'messages')) return refuse(tooManyRequests());
  let isRefused = false;
  const endReading = bodies.begin(request, (error) => {
    isRefused = true;
    refuse(error);
  });
  if (!endReading) return;
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  // After a broken connection, Node never emits `end`. No client then waits for a response.
  request.on('end', () => {
    endReading();
    if (isRefused) return;
    const [first = Buffer.alloc(0), ...others] = chunks;
    const body = others.length === 0 ? first : Buffer.concat(chunks);
    route.handle(request, body, id).then((answer) => respond(response, answer, id), fail);
  });
}

function respond(response: ServerResponse, answer: DirectResponse, id: string): void {
  if (answer.status === 204) response.writeHead(204, ['X-Request-Id', id, 'Cache-Control', 'no-store']).end();
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
