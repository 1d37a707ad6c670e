import { randomUUID } from 'node:crypto';
import {
  createServer,
  maxHeaderSize,
  METHODS,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { NotFoundException } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ServiceError } from '@stream-events/contracts';
import { dropTypeOfEmptyBody, hasBody } from '@stream-events/service';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import type { TrustProxy } from '../gateway.config.js';
import { trustRule } from './client-address.js';
import { ClientLimits, responseOn } from './client-limits.js';
import { DirectRoutes } from './direct-routes.js';
import { takeForms } from './form-body.decorator.js';
import { hasOneHost } from './host-header.js';
import {
  checkIntervalMs,
  headersLimitMs,
  httpLimits,
  maxBodyBytes,
  maxConnections,
  requestLimitMs,
  silenceLimitMs,
  type HttpLimits,
} from './http-limits.js';
import { canonicalUrl, platformCallRoute } from './paths.js';
import { printAnswer, sendProblem, toProblem, toServiceError } from './problem.js';
import { endSocket, RequestGate } from './request-gate.js';
import { addSecurityHeaders } from './security-headers.js';
import { traceRequests, type RequestTraces } from './trace-requests.js';

const newline = Buffer.from('\n');

/** Creates the HTTP server. It resolves path aliases, passes bodies as bytes, enforces limits, and sends errors as problem documents. */
export function createHttpServer(
  trustProxy: TrustProxy,
  limits: Partial<HttpLimits> = {},
  traces?: RequestTraces,
): FastifyAdapter {
  const allLimits = { ...httpLimits, ...limits };
  const clients = new ClientLimits(allLimits, trustRule(trustProxy));
  const gate = new RequestGate(allLimits, clients);
  const direct = new DirectRoutes(clients, traces);
  const options: FastifyHttpOptions<Server> = {
    trustProxy,
    bodyLimit: maxBodyBytes,
    serverFactory: (serveWithFastify) =>
      createNodeServer(clients, (request, response) =>
        gate.admit(request, response, () => {
          if (!direct.serve(request, response)) serveWithFastify(request, response);
        }),
      ),
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
    clientErrorHandler: (error, socket) => {
      const response = responseOn(socket);
      // The fault is in what the client sent after its request: let the response be the last one.
      if (response?.req.complete && !response.headersSent) response.setHeader('Connection', 'close');
      else if (socket.writable && !response?.headersSent) endSocket(socket, printClientError(error.code));
      // Within a response, an error would become part of it.
      else socket.destroy();
    },
  };
  // Skip Nest's support for Express middleware, which the gateway does not use.
  const adapter = new FastifyAdapter({ ...options, skipMiddie: true });
  const fastify = adapter.getInstance();
  gate.watchRoutes(fastify);
  direct.belongTo(fastify);
  takeRawBodies(fastify);
  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    dropTypeOfEmptyBody(raw);
    done();
  });
  refuseQueryMethod(fastify);
  endJsonWithNewline(fastify);
  correlate(fastify);
  if (traces) traceRequests(fastify, traces);
  addSecurityHeaders(fastify);
  limitBodies(fastify, clients);
  fastify.addHook('preClose', () => clients.close(fastify.server));
  refuseFaultyHost(fastify);
  return adapter;
}

/** Creates the server with its limits. `serve` gets each request. */
function createNodeServer(
  clients: ClientLimits,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const options = {
    // Ends requests that a client sends byte by byte.
    requestTimeout: requestLimitMs,
    headersTimeout: headersLimitMs,
    connectionsCheckingInterval: checkIntervalMs,
    keepAliveTimeout: 72_000,
    // Without a Host header, Node would send an empty 400. `refuseFaultyHost` sends a problem document instead.
    requireHostHeader: false,
  };
  const server = createServer(options, serve);
  server.maxConnections = maxConnections;
  // Ends connections whose clients do not read the response.
  server.setTimeout(silenceLimitMs);
  server.on('connection', (socket) => clients.accept(socket));
  // Ignores `Expect` headers other than 100-continue (RFC 9110 §10.1.1). Node would answer with an empty 417.
  server.on('checkExpectation', serve);
  return server;
}

/** Limits the bodies that Fastify reads. */
function limitBodies(fastify: FastifyInstance, clients: ClientLimits): void {
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    if (!hasBody(request)) return done(null, payload);
    // Respond to unknown paths at once: no handler would read the body.
    if (request.is404) return done(new NotFoundException(), payload);
    const kind = request.routeOptions.config.receivesMessages ? 'messageBodies' : 'bodies';
    clients.watchBody(request.raw, kind, (error) => {
      if (!reply.sent) sendProblem(reply.header('Connection', 'close'), error);
    });
    done(null, payload);
  });
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

/** Ends the service's own JSON responses with a newline, so that a shell prompt after `curl` starts on its own line. */
function endJsonWithNewline(fastify: FastifyInstance): void {
  fastify.addHook('onSend', ({ routeOptions }, reply, payload, done) => {
    if (routeOptions.url === platformCallRoute) return done(null, payload);
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
