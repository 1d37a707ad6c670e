import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ServiceError } from '@stream-events/contracts';
import { within } from '@stream-events/service';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import type { TrustProxy } from '../gateway.config.js';
import { serveDirectRoutes } from './direct-routes.js';
import { takeForms } from './form-body.decorator.js';
import { canonicalUrl } from './paths.js';
import { printAnswer, sendProblem, toProblem, toServiceError } from './problem.js';
import { limitRequests } from './requests-in-progress.js';

/** The largest accepted body: 256 KiB, far above any message of a platform. */
const maxBodyBytes = 256 * 1024;

/**
 * Maximum number of requests in progress. Slightly more than the events that may wait for the store (4,096) or are on the way to it
 * (768), because exceeding those limits has its own error. With the largest bodies, 5,000 requests take 1.25 GiB.
 */
const maxRequestsInProgress = 5_000;

// Each connection takes a file descriptor and about 20 KiB. Node closes connections above the limit without a response, because
// there is no request yet. The limit is far above what a gateway can serve: it only stops idle connections from exhausting the
// machine.
const maxConnections = 20_000;

// While closing, the server waits this long for open connections without a request. A client that uses its connection often
// sends a request in this time, and its response announces that the connection closes.
const idleGraceMs = 1_000;

// An idle turn of the event loop takes microseconds. Under constant load no turn is idle, so the number of turns is limited.
const shortTurnMs = 0.2;
const maxTurns = 500;

const newline = Buffer.from('\n');

/** Creates the HTTP server: aliases and trailing slashes, raw bodies, limits, and errors as problem documents. */
export function createHttpServer(
  trustProxy: TrustProxy,
  maxRequests = maxRequestsInProgress,
): FastifyAdapter {
  const options: FastifyHttpOptions<Server> = {
    trustProxy,
    bodyLimit: maxBodyBytes,
    // A client that sends its request byte by byte must not hold a connection forever.
    requestTimeout: 30_000,
    // A client that does not read its response must not hold a connection forever either.
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    // While the server closes, open connections still get real responses.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    rewriteUrl: (request) => canonicalUrl(request.url ?? '/'),
    routerOptions: {
      // An event type of 255 emoji, percent-encoded, has 3,060 characters.
      maxParamLength: 4_096,
      // The last value of a repeated parameter wins. A parameter named __proto__ does not change the prototype.
      querystringParser: (query) => Object.fromEntries(new URLSearchParams(query)),
    },
    frameworkErrors: (error, _request, reply) => {
      sendProblem(reply, toServiceError(error));
    },
    // Node would reject a request without a host with an empty response; see `refuseWithoutHost`.
    http: { requireHostHeader: false },
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(printClientError(error.code));
      // The socket stays open until the client ends it too. One second is enough to read the response.
      setTimeout(() => socket.destroy(), 1_000).unref();
    },
  };
  // The gateway uses no Express-style middleware, so requests skip its engine.
  const adapter = new FastifyAdapter({ ...options, skipMiddie: true });
  adapter.getInstance().server.maxConnections = maxConnections;
  takeRawBodies(adapter.getInstance());
  endJsonWithNewline(adapter.getInstance());
  correlate(adapter.getInstance());
  const admit = limitRequests(adapter.getInstance(), maxRequests);
  serveDirectRoutes(adapter.getInstance(), admit, maxBodyBytes);
  endConnectionsOnClose(adapter.getInstance());
  refuseWithoutHost(adapter.getInstance());
  ignoreExpectations(adapter.getInstance());
  return adapter;
}

/** Handlers get bodies as bytes: signatures cover the bytes, and event data is passed on as text. */
function takeRawBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  takeForms(fastify);
}

/** Ends JSON responses with a newline: in a terminal, the prompt then starts on its own line. */
function endJsonWithNewline(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    const type = reply.getHeader('content-type');
    const isJson = typeof type === 'string' && /^application\/(problem\+)?json\b/.test(type);
    done(null, isJson ? withNewline(payload) : payload);
  });
}

/** Appends a newline unless there is one. The largest lists bring their own, so they are not copied. */
function withNewline(payload: unknown): unknown {
  if (typeof payload === 'string') return payload.endsWith('\n') ? payload : `${payload}\n`;
  if (payload instanceof Uint8Array && payload.at(-1) !== newline[0])
    return Buffer.concat([payload, newline]);
  return payload;
}

/**
 * Makes each response close its connection while the server closes. Otherwise, a client that keeps its connection open would
 * keep the server waiting. Fastify only does this for requests that arrive after closing has started, and it closes idle
 * connections immediately, including those on which a request is already on its way.
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
    await within(idleGraceMs, closed);
    // Neither Node nor Fastify counts a connection as idle before its first byte, so such a connection would block the close.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing) void reply.header('Connection', 'close');
    done(null, payload);
  });
}

/**
 * Waits until the process has accepted nearly all connections that the operating system has established, because the others
 * are reset when the server stops listening. Each turn of the event loop accepts all pending connections, so after a short turn
 * hardly any are left.
 */
async function untilConnectionsAreAccepted(): Promise<void> {
  await setImmediate(); // ends the current turn
  for (let turns = 0; turns < maxTurns; turns += 1) {
    const startedAt = performance.now();
    await setImmediate();
    if (performance.now() - startedAt < shortTurnMs) return;
  }
}

/** Gives each request an id, which its response, its log lines, and its messages to other services carry. */
function correlate(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('X-Request-Id', request.id);
    done();
  });
}

/** RFC 9112 §3.2 requires 400 for an HTTP/1.1 request without a host. */
function refuseWithoutHost(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host !== undefined || request.raw.httpVersion !== '1.1') done();
    else sendProblem(reply, new ServiceError('invalid', 'The request has no Host header.'));
  });
}

/** Ignores expectations other than 100-continue, as RFC 9110 §10.1.1 allows. Node would respond with an empty 417. */
function ignoreExpectations(fastify: FastifyInstance): void {
  fastify.server.on('checkExpectation', (request, response) => {
    fastify.server.emit('request', request, response);
  });
}

/** The response to bytes that are not an HTTP request. Printed here because there is no Fastify reply. */
function printClientError(code: string): string {
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const title = STATUS_CODES[status] ?? 'Bad Request';
  const problem = toProblem(new ServiceError('invalid', 'The request is not valid HTTP.'));
  return printAnswer({ ...problem, status, title });
}
