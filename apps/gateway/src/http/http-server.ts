import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ServiceError } from '@stream-events/contracts';
import { runWithCorrelation } from '@stream-events/messaging';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { canonicalUrl } from './paths.js';
import { sendProblem, toProblem, toServiceError } from './problem.js';

/** The largest body that is taken: 256 KiB, far above any message of a platform. */
export const maxBodyBytes = 256 * 1024;

/** Whose `X-Forwarded-*` headers count: nobody's, everybody's, or those of these addresses and networks. */
export type TrustProxy = boolean | string[];

/** Makes the HTTP server: aliases and trailing slashes, raw bodies, limits, and errors as problem documents. */
export function createHttpServer(trustProxy: TrustProxy): FastifyAdapter {
  const options: FastifyServerOptions = {
    trustProxy,
    bodyLimit: maxBodyBytes,
    // A client that sends its request drop by drop must not hold a connection for ever.
    requestTimeout: 30_000,
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
    clientErrorHandler: (error, socket) => {
      if (!socket.writable) return;
      socket.end(printClientError(error.code));
    },
  };
  const adapter = new FastifyAdapter(options);
  takeRawBodies(adapter.getInstance());
  correlate(adapter.getInstance());
  return adapter;
}

/** Handlers get bodies as bytes: signatures are made over them, and event data is handed on as text. */
function takeRawBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
}

/** Gives each request an id that its answer, its log lines and its messages to other services carry. */
function correlate(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('X-Request-Id', request.id);
    done();
  });
  // Only after the body was read: its events run in a context of their own, where the id would be lost.
  fastify.addHook('preHandler', (request, _reply, done) => {
    runWithCorrelation(request.id, done);
  });
}

/** An answer to what is not even a request, written by hand because there is none to reply to. */
function printClientError(code: string): string {
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const title = STATUS_CODES[status] ?? 'Bad Request';
  const body = JSON.stringify({
    ...toProblem(new ServiceError('invalid', 'The request could not be read as HTTP.')),
    status,
    title,
  });
  return (
    `HTTP/1.1 ${status} ${title}\r\nConnection: close\r\nContent-Type: application/problem+json\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}
