import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { lingerMs } from './http-limits.js';
import { takeConnection } from './requests-in-progress.js';

/** Whether the head of a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
}

/**
 * Closes the connection after a response that is sent before the body of its request has arrived. Otherwise, the client could make
 * the server read a body that the server has already refused.
 */
export function closeAfterEarlyResponses(fastify: FastifyInstance): void {
  fastify.addHook('onSend', ({ raw }, reply, payload, done) => {
    whenBodyIsRead(raw, (isRead) => {
      if (!isRead) void reply.header('Connection', 'close');
      done(null, payload);
    });
  });
}

/**
 * Calls `respond` and passes whether the whole body has arrived. If part of the body is missing, the connection closes after the response,
 * so the response must contain `Connection: close`.
 */
export function whenBodyIsRead(request: IncomingMessage, respond: (isRead: boolean) => void): void {
  const isRead = (): boolean => request.complete || !hasBody(request);
  if (isRead()) return respond(true);
  // A body that arrives together with the request head is read in this turn of the event loop.
  setImmediate(() => {
    if (isRead()) return respond(true);
    takeConnection(request.socket);
    linger(request);
    respond(false);
  });
}

/**
 * Keeps the connection open for a moment after the last response, and discards data that the client still sends. Otherwise, Node would
 * destroy the socket immediately, the operating system would reset the connection, and the client might never see the response.
 */
function linger({ socket }: IncomingMessage): void {
  // Node calls this method after the response has been sent.
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
}
