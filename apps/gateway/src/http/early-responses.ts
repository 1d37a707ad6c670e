import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { lingerMs } from './http-limits.js';
import { takeConnection } from './requests-in-progress.js';

/** Whether the headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
}

/**
 * Closes the connection after a response that precedes the end of its request's body. On an open connection, the client could make the
 * server read a body that the server has already refused.
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
 * Calls `respond` with true if the whole body has arrived. If part of it is missing, calls `respond` with false and closes the connection
 * after the response. That response must contain `Connection: close`.
 */
export function whenBodyIsRead(request: IncomingMessage, respond: (isRead: boolean) => void): void {
  const isRead = (): boolean => request.complete || !hasBody(request);
  if (isRead()) return respond(true);
  // If the body arrived together with the head, Node reads the body in this event-loop turn. Check again afterwards.
  setImmediate(() => {
    if (isRead()) return respond(true);
    takeConnection(request.socket);
    linger(request);
    respond(false);
  });
}

/**
 * Keeps the connection open for `lingerMs` after the last response, and discards what the client still sends. If Node destroyed the socket
 * at once, the operating system would reset the connection, and the client might never see the response.
 */
export function linger({ socket }: IncomingMessage): void {
  // Node calls this method after the response has been sent.
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
}
