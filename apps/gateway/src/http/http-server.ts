import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ServiceError } from '@stream-events/contracts';
import { within } from '@stream-events/messaging';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import type { TrustProxy } from '../gateway.config.js';
import { takeForms } from './form-body.decorator.js';
import { canonicalUrl } from './paths.js';
import { printAnswer, sendProblem, toProblem, toServiceError } from './problem.js';
import { limitRequests } from './requests-in-progress.js';

/** The largest body that is taken: 256 KiB, far above any message of a platform. */
const maxBodyBytes = 256 * 1024;

/**
 * The most requests that are answered at a time. A little more than the events that may wait for the store (4,096) and
 * are on the way to it (768), which have a refusal of their own; with the largest bodies these are 1.25 GiB.
 */
const maxRequestsInProgress = 5_000;

// Each is a file descriptor and some 20 KiB. Beyond it Node closes new ones without a word, for there is no request yet
// to answer: far above what a gateway can serve, it only keeps idle connections from using up the machine.
const maxConnections = 20_000;

// While it closes, the server waits so long for open connections without a request: a client that uses its connection often
// sends one within this time, and its answer tells it that the connection ends.
const idleGraceMs = 1_000;

// A turn of the event loop without work takes microseconds. Under a load that leaves none, any turn must do at some time.
const shortTurnMs = 0.2;
const maxTurns = 500;

const newline = Buffer.from('\n');

/** Makes the HTTP server: aliases and trailing slashes, raw bodies, limits, and errors as problem documents. */
export function createHttpServer(
  trustProxy: TrustProxy,
  maxRequests = maxRequestsInProgress,
): FastifyAdapter {
  const options: FastifyHttpOptions<Server> = {
    trustProxy,
    bodyLimit: maxBodyBytes,
    // A client that sends its request drop by drop must not hold a connection for ever.
    requestTimeout: 30_000,
    // Nor one that does not take its answer.
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    // While the server closes, open connections still get their real answers.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    rewriteUrl: (request) => canonicalUrl(request.url ?? '/'),
    routerOptions: {
      // An event type of 255 emoji, percent-encoded, has 3,060 characters.
      maxParamLength: 4_096,
      // The last of a repeated parameter wins; the prototype is never touched.
      querystringParser: (query) => Object.fromEntries(new URLSearchParams(query)),
    },
    frameworkErrors: (error, _request, reply) => {
      sendProblem(reply, toServiceError(error));
    },
    // Node would refuse a request without a host with an empty answer; see `refuseWithoutHost`.
    http: { requireHostHeader: false },
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(printClientError(error.code));
      // Ended is not closed: until the client ends it too, the socket stays. A second is enough to read the answer.
      setTimeout(() => socket.destroy(), 1_000).unref();
    },
  };
  // Nothing here uses Express-style middleware: requests need not go through its engine.
  const adapter = new FastifyAdapter({ ...options, skipMiddie: true });
  adapter.getInstance().server.maxConnections = maxConnections;
  takeRawBodies(adapter.getInstance());
  endJsonWithNewline(adapter.getInstance());
  correlate(adapter.getInstance());
  limitRequests(adapter.getInstance(), maxRequests);
  endConnectionsOnClose(adapter.getInstance());
  refuseWithoutHost(adapter.getInstance());
  ignoreExpectations(adapter.getInstance());
  return adapter;
}

/** Handlers get bodies as bytes: signatures are made over them, and event data is handed on as text. */
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

/** Leaves text as it is that already ends with a newline: the largest lists do, and are not copied. */
function withNewline(payload: unknown): unknown {
  if (typeof payload === 'string') return payload.endsWith('\n') ? payload : `${payload}\n`;
  if (payload instanceof Uint8Array && payload.at(-1) !== newline[0])
    return Buffer.concat([payload, newline]);
  return payload;
}

/**
 * While the server closes, an answer ends its connection: a client that keeps it open would keep the server waiting.
 * Fastify does so only for requests that arrive after that. And it would cut idle connections at once, also those on which a
 * request is already on its way.
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
    await untilConnectionsAreTaken();
    const closed = new Promise((resolve) => {
      // Not the HTTP server's own close, which cuts idle connections: this one only stops listening.
      NetServer.prototype.close.call(fastify.server, resolve);
    });
    await within(idleGraceMs, closed);
    // Neither Node nor Fastify counts a connection as idle before its first byte: such a connection would hold up the end.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing) void reply.header('Connection', 'close');
    done(null, payload);
  });
}

/**
 * Waits for a moment in which hardly any connection can be there that the system has made and this process has not taken
 * yet, since those are reset when it stops listening: the end of a short turn of the event loop, which takes all of them.
 */
async function untilConnectionsAreTaken(): Promise<void> {
  await setImmediate(); // the rest of the turn that has brought us here
  for (let turns = 0; turns < maxTurns; turns += 1) {
    const startedAt = performance.now();
    await setImmediate();
    if (performance.now() - startedAt < shortTurnMs) return;
  }
}

/** Gives each request an id that its answer, its log lines and its messages to other services carry. */
function correlate(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('X-Request-Id', request.id);
    done();
  });
}

/** RFC 9112 §3.2 wants 400 for a request of HTTP/1.1 without a host. */
function refuseWithoutHost(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host !== undefined || request.raw.httpVersion !== '1.1') done();
    else sendProblem(reply, new ServiceError('invalid', 'The request has no Host header.'));
  });
}

/** Expectations but 100-continue may be ignored (RFC 9110 §10.1.1); Node would answer 417 with nothing in it. */
function ignoreExpectations(fastify: FastifyInstance): void {
  fastify.server.on('checkExpectation', (request, response) => {
    fastify.server.emit('request', request, response);
  });
}

/** An answer to what is not even a request, written by hand because there is none to reply to. */
function printClientError(code: string): string {
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const title = STATUS_CODES[status] ?? 'Bad Request';
  const problem = toProblem(new ServiceError('invalid', 'The request could not be read as HTTP.'));
  return printAnswer({ ...problem, status, title });
}
