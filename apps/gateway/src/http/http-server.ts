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
import { createGate } from './request-gate.js';
import { limitConnections, limitRequests } from './requests-in-progress.js';
import { addSecurityHeaders } from './security-headers.js';
import { traceRequests, type RequestTraces } from './trace-requests.js';

// A closing server waits this long for idle connections. A busy client sends its next request within this time, and the response then tells
// the client that the connection closes.
const idleGraceMs = 1_000;

// How often a closing server looks for clients that do not finish their requests. The server destroys a connection that waits for the same
// request at two checks in a row. The usual limits for heads and bodies (10 to 26 s) are too long: the process must stop within 25 s.
const arrivalCheckMs = 1_500;

// The server stops listening after an event-loop turn shorter than `shortTurnMs`, or after `maxTurns`. Connections that arrive during the
// last turn are reset, so this turn must be short. An idle turn takes microseconds, but under constant load no turn is idle.
const shortTurnMs = 0.03;
const maxTurns = 1_000;

const newline = Buffer.from('\n');

/** Creates the HTTP server. It resolves path aliases, passes bodies as bytes, enforces limits, and sends errors as problem documents. */
export function createHttpServer(
  trustProxy: TrustProxy,
  limits: Partial<HttpLimits> = {},
  traces?: RequestTraces,
): FastifyAdapter {
  const allLimits = { ...httpLimits, ...limits };
  const options: FastifyHttpOptions<Server> = {
    trustProxy,
    bodyLimit: maxBodyBytes,
    // Ends requests that a client sends byte by byte.
    requestTimeout: requestLimitMs,
    // Ends connections whose clients do not read the response.
    connectionTimeout: silenceLimitMs,
    keepAliveTimeout: 72_000,
    // Serve requests on open connections normally while the server closes.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    rewriteUrl: (request) => canonicalUrl(request.url ?? '/'),
    routerOptions: {
      // The longest valid parameter is an event type of 255 emoji, which has 3,060 characters when percent-encoded.
      maxParamLength: 4_096,
      // The last value of a repeated parameter wins. A parameter named __proto__ cannot change the prototype.
      querystringParser: (query) => Object.fromEntries(new URLSearchParams(query)),
    },
    frameworkErrors: (error, _request, reply) => {
      sendProblem(reply, toServiceError(error));
    },
    http: {
      // Without a Host header, Node would send an empty 400. `refuseFaultyHost` sends a problem document instead.
      requireHostHeader: false,
      headersTimeout: headersLimitMs,
      connectionsCheckingInterval: checkIntervalMs,
    },
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(printClientError(error.code));
      // Give the client `lingerMs` to read the response and close the connection.
      setTimeout(() => socket.destroy(), lingerMs).unref();
    },
  };
  // Skip Nest's support for Express middleware, which the gateway does not use.
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
  const gate = createGate(fastify, allLimits.anonymous);
  const admit = limitRequests(fastify, allLimits);
  const bodies = limitBodies(fastify, allLimits);
  serveDirectRoutes(fastify, { gate, admit, bodies, traces });
  closeAfterEarlyResponses(fastify);
  endConnectionsOnClose(fastify);
  refuseFaultyHost(fastify);
  ignoreExpectations(fastify);
  return adapter;
}

/** Passes JSON bodies to handlers as raw bytes: webhook signatures cover the bytes, and event data is stored as sent. */
function takeRawBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  takeForms(fastify);
}

/**
 * Makes Fastify parse requests with the method QUERY, so that they get 405 like any other unsupported method. Fastify would answer some of
 * them with 400.
 */
function refuseQueryMethod(fastify: FastifyInstance): void {
  // Node 20.19 does not know QUERY and answers 400 by itself.
  if (METHODS.includes('QUERY')) fastify.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true });
}

/** Ends JSON responses with a newline, so that a shell prompt after `curl` starts on its own line. */
function endJsonWithNewline(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    const type = reply.getHeader('content-type');
    const isJson = typeof type === 'string' && /^application\/(problem\+)?json\b/.test(type);
    done(null, isJson ? withNewline(payload) : payload);
  });
}

/** Appends a newline if it is missing. The largest lists already end with one, which avoids copying them. */
function withNewline(payload: unknown): unknown {
  if (typeof payload === 'string') return payload.endsWith('\n') ? payload : `${payload}\n`;
  if (payload instanceof Uint8Array && payload.at(-1) !== newline[0])
    return Buffer.concat([payload, newline]);
  return payload;
}

/**
 * Ends all connections when the server closes. While the server closes, each response that Fastify sends carries `Connection: close`.
 * Without this function, Fastify would add this header only for requests that arrive after the close began. Fastify would also cut idle
 * connections while a request is on its way, and wait forever for requests that never arrive in full.
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
      // Call the close() of the base class, which only stops listening. The HTTP server's close() would also cut idle connections.
      NetServer.prototype.close.call(fastify.server, resolve);
    });
    // Replaces Node's time limits for heads, because Node stops checking them when the HTTP server closes. Also ends connections that
    // become idle later, after a response without `Connection: close`.
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
    // Neither Node nor Fastify counts a connection as idle before its first byte, so connections without any data would block the close.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing) void reply.header('Connection', 'close');
    done(null, payload);
  });
}

/** Private fields that Node's HTTP server sets on its sockets. Node has no public equivalent. */
interface ServedSocket extends Socket {
  /** Upgraded connections have no parser. */
  parser?: object | null;
  _httpMessage?: ServerResponse | null;
}

function responseOf(socket: ServedSocket): ServerResponse | undefined {
  return socket._httpMessage ?? undefined;
}

/** Whether the server waits for this client to send a request, or the rest of one. */
function isAwaitingRequest(socket: ServedSocket): boolean {
  const response = responseOf(socket);
  // Skip connections that the server has ended: they stay open for `lingerMs`, so that the client can read the response.
  if (!socket.parser || socket.writableEnded) return false;
  // Unread data in an incomplete request means that the server, not the client, is slow.
  return !response || !(response.headersSent || response.req.complete || response.req.readableLength > 0);
}

/**
 * Waits until the process has accepted nearly all connections that the operating system has established. When the server stops listening,
 * the operating system resets the rest. Each event-loop turn accepts all pending connections, so a short turn leaves only a few.
 */
async function untilConnectionsAreAccepted(): Promise<void> {
  await setImmediate(); // end the current turn
  for (let turns = 0; turns < maxTurns; turns += 1) {
    const startedAt = performance.now();
    await setImmediate();
    if (performance.now() - startedAt < shortTurnMs) return;
  }
}

/** Sends the request id to the client. The request's log lines and its messages to other services carry the same id. */
function correlate(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('X-Request-Id', request.id);
    done();
  });
}

/** Rejects with 400 every HTTP/1.1 request without a Host header, and every request with several Host headers (RFC 9112 §3.2). */
function refuseFaultyHost(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    if (hasOneHost(raw) || (raw.headers.host === undefined && raw.httpVersion !== '1.1')) done();
    else sendProblem(reply, new ServiceError('invalid', 'The request must have exactly one Host header.'));
  });
}

/** Ignores `Expect` headers other than 100-continue (RFC 9110 §10.1.1). Node would answer with an empty 417. */
function ignoreExpectations(fastify: FastifyInstance): void {
  fastify.server.on('checkExpectation', (request, response) => {
    fastify.server.emit('request', request, response);
  });
}

/** Builds the response to bytes that are not a complete HTTP request. Fastify creates no reply for them. */
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
