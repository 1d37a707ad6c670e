import { randomUUID } from 'node:crypto';
import { maxHeaderSize, METHODS, STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ServiceError } from '@stream-events/contracts';
import { within } from '@stream-events/service';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import type { TrustProxy } from '../gateway.config.js';
import { limitBodies } from './body-limits.js';
import { trustRule } from './client-address.js';
import { serveDirectRoutes } from './direct-routes.js';
import { closeAfterEarlyResponses } from './early-responses.js';
import { takeForms } from './form-body.decorator.js';
import { hasOneHost } from './host-header.js';
import {
  checkIntervalMs,
  headersLimitMs,
  httpLimits,
  lingerMs,
  maxBodyBytes,
  maxConnections,
  requestLimitMs,
  silenceLimitMs,
  type HttpLimits,
} from './http-limits.js';
import { canonicalUrl } from './paths.js';
import { printAnswer, sendProblem, toProblem, toServiceError } from './problem.js';
import { limitConnections, limitRequests } from './requests-in-progress.js';
import { addSecurityHeaders } from './security-headers.js';
import { traceRequests, type RequestTraces } from './trace-requests.js';

// While closing, the server waits this long for idle connections to close. A client that uses its connection frequently sends a request in
// this time, and the response announces that the connection closes.
const idleGraceMs = 1_000;

// How often a closing server checks its connections. The server destroys a connection that waits for the same request at two checks in a
// row. The ordinary time limits of heads and bodies (10 to 26 s) do not fit into the 25 s that a process has to stop.
const arrivalCheckMs = 1_500;

// The server stops listening after a turn of the event loop that is shorter than this. A connection that arrives during the last turn is
// reset, so the last turn must be short; an idle turn takes microseconds. Under constant load, no turn is idle, so the number of turns is
// limited.
const shortTurnMs = 0.03;
const maxTurns = 1_000;

const newline = Buffer.from('\n');

/**
 * Creates the HTTP server. The server resolves path aliases and trailing slashes, passes bodies as bytes, applies limits, and sends errors
 * as problem documents.
 */
export function createHttpServer(
  trustProxy: TrustProxy,
  limits: Partial<HttpLimits> = {},
  traces?: RequestTraces,
): FastifyAdapter {
  const allLimits = { ...httpLimits, ...limits };
  const options: FastifyHttpOptions<Server> = {
    trustProxy,
    bodyLimit: maxBodyBytes,
    // A client that sends its request byte by byte must not hold a connection forever.
    requestTimeout: requestLimitMs,
    // A client that does not read its response must not hold a connection forever either.
    connectionTimeout: silenceLimitMs,
    keepAliveTimeout: 72_000,
    // While the server closes, open connections still get real responses.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    rewriteUrl: (request) => canonicalUrl(request.url ?? '/'),
    routerOptions: {
      // The longest parameter, a percent-encoded event type of 255 emoji, has 3,060 characters.
      maxParamLength: 4_096,
      // The last value of a repeated parameter wins. A parameter named __proto__ does not change the prototype.
      querystringParser: (query) => Object.fromEntries(new URLSearchParams(query)),
    },
    frameworkErrors: (error, _request, reply) => {
      sendProblem(reply, toServiceError(error));
    },
    http: {
      // Node would send an empty response to a request without a host. `refuseFaultyHost` sends a problem document instead.
      requireHostHeader: false,
      headersTimeout: headersLimitMs,
      connectionsCheckingInterval: checkIntervalMs,
    },
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(printClientError(error.code));
      // The socket stays open until the client ends it, but only for `lingerMs`, so that the client can read the response.
      setTimeout(() => socket.destroy(), lingerMs).unref();
    },
  };
  // Skip Nest's engine for Express-style middleware, because the gateway uses no such middleware.
  const adapter = new FastifyAdapter({ ...options, skipMiddie: true });
  const fastify = adapter.getInstance();
  fastify.server.maxConnections = maxConnections;
  limitConnections(fastify.server, trustRule(trustProxy), allLimits.connections);
  takeRawBodies(fastify);
  refuseQueryMethod(fastify);
  endJsonWithNewline(fastify);
  correlate(fastify);
  if (traces) traceRequests(fastify, traces);
  addSecurityHeaders(fastify);
  const admit = limitRequests(fastify, allLimits);
  const bodies = limitBodies(fastify, allLimits);
  serveDirectRoutes(fastify, { admit, bodies, traces });
  closeAfterEarlyResponses(fastify);
  endConnectionsOnClose(fastify);
  refuseFaultyHost(fastify);
  ignoreExpectations(fastify);
  return adapter;
}

/** Passes bodies to handlers as bytes, because signatures cover the bytes and event data is passed on as text. */
function takeRawBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  takeForms(fastify);
}

/**
 * Rejects requests with the method QUERY with 405, like any other unsupported method. Fastify would reject some of these requests with 400.
 */
function refuseQueryMethod(fastify: FastifyInstance): void {
  // Node 20.19 does not know the method QUERY, and responds with 400 by itself.
  if (METHODS.includes('QUERY')) fastify.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true });
}

/** Ends JSON responses with a newline, so that a terminal's prompt after a response starts on its own line. */
function endJsonWithNewline(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    const type = reply.getHeader('content-type');
    const isJson = typeof type === 'string' && /^application\/(problem\+)?json\b/.test(type);
    done(null, isJson ? withNewline(payload) : payload);
  });
}

/**
 * Appends a newline unless the payload already ends with a newline. The largest lists already end with a newline, so they are not copied.
 */
function withNewline(payload: unknown): unknown {
  if (typeof payload === 'string') return payload.endsWith('\n') ? payload : `${payload}\n`;
  if (payload instanceof Uint8Array && payload.at(-1) !== newline[0])
    return Buffer.concat([payload, newline]);
  return payload;
}

/**
 * Makes each response close its connection while the server closes. Otherwise, a client that keeps its connection open would keep the
 * server waiting. Fastify only does this for requests that arrive after closing has started. Fastify also closes idle connections
 * immediately, even if a request is already on its way, and waits for requests that never arrive in full.
 */
function endConnectionsOnClose(fastify: FastifyInstance): void {
  let isClosing = false;
  const sockets = new Set<Socket>();
  fastify.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  fastify.addHook('preClose', async () => {
    isClosing = true;
    await untilConnectionsAreAccepted();
    const closed = new Promise((resolve) => {
      // Use the base class's close(), which only stops listening. The HTTP server's own close() would also close idle connections.
      NetServer.prototype.close.call(fastify.server, resolve);
    });
    // When Fastify closes the HTTP server, Node stops checking the time limits of heads. The interval also ends connections that become idle
    // later, after a response that did not announce the close.
    let awaiting = new Map<Socket, ServerResponse | undefined>();
    const timer = setInterval(() => {
      const before = awaiting;
      awaiting = new Map(
        [...sockets].filter(isAwaitingRequest).map((socket) => [socket, responseOf(socket)]),
      );
      for (const [socket, response] of awaiting)
        if (before.has(socket) && before.get(socket) === response) socket.destroy();
    }, arrivalCheckMs);
    void closed.then(() => clearInterval(timer));
    await within(idleGraceMs, closed);
    // Neither Node nor Fastify counts a connection as idle before its first byte, so such a connection would block the close.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing) void reply.header('Connection', 'close');
    done(null, payload);
  });
}

/** Private fields of Node's HTTP server without a public equivalent. */
interface ServedSocket extends Socket {
  /** Upgraded connections have no parser. */
  parser?: object | null;
  _httpMessage?: ServerResponse | null;
}

/** Returns the response in progress on a connection. */
function responseOf(socket: ServedSocket): ServerResponse | undefined {
  return socket._httpMessage ?? undefined;
}

/** Whether a connection only waits for its client to send a request, or the rest of a request. */
function isAwaitingRequest(socket: ServedSocket): boolean {
  const response = responseOf(socket);
  // A connection that the server has ended stays open for `lingerMs`, so that the client can read the response.
  if (!socket.parser || socket.writableEnded) return false;
  // If the request is not complete but has unread data, the server keeps the client from sending more.
  return !response || !(response.headersSent || response.req.complete || response.req.readableLength > 0);
}

/**
 * Waits until the process has accepted nearly all connections that the operating system has established. Connections that are not accepted
 * are reset when the server stops listening. Each turn of the event loop accepts all pending connections, so few are left after a short
 * turn.
 */
async function untilConnectionsAreAccepted(): Promise<void> {
  await setImmediate(); // ends the current turn
  for (let turns = 0; turns < maxTurns; turns += 1) {
    const startedAt = performance.now();
    await setImmediate();
    if (performance.now() - startedAt < shortTurnMs) return;
  }
}

/** Sends the id of each request in its response. The log lines of the request, and its messages to other services, contain the same id. */
function correlate(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('X-Request-Id', request.id);
    done();
  });
}

/** Rejects HTTP/1.1 requests without a Host header, and all requests with several Host headers, with 400, as RFC 9112 §3.2 requires. */
function refuseFaultyHost(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    if (hasOneHost(raw) || (raw.headers.host === undefined && raw.httpVersion !== '1.1')) done();
    else sendProblem(reply, new ServiceError('invalid', 'The request must have exactly one Host header.'));
  });
}

/** Ignores expectations other than 100-continue, as RFC 9110 §10.1.1 allows. Node would respond with an empty 417. */
function ignoreExpectations(fastify: FastifyInstance): void {
  fastify.server.on('checkExpectation', (request, response) => {
    fastify.server.emit('request', request, response);
  });
}

/** Prints the response to bytes that are not a complete HTTP request, for which Fastify creates no reply. */
function printClientError(code: string): string {
  const { status, detail } = clientErrors.get(code) ?? {
    status: 400,
    detail: 'The request is not valid HTTP.',
  };
  const title = STATUS_CODES[status] ?? 'Bad Request';
  return printAnswer({ ...toProblem(new ServiceError('invalid', detail)), status, title });
}

const clientErrors = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    { status: 431, detail: `The URL and the headers together exceed ${maxHeaderSize / 1_024} KiB.` },
  ],
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, detail: 'The request did not arrive in time. Send it again.' }],
]);
