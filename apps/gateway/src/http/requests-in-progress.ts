import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendProblem } from './problem.js';

/** A connection of a client. */
interface Connection {
  /** One callback per pending request. Calling it marks the request as finished. */
  readonly waiting: Set<() => void>;
  /** Whether an open-ended response occupies the connection. */
  isTaken: boolean;
}

// Few clients pipeline requests. Without this limit, a few connections could use up the limit for all clients.
const maxPerConnection = 16;

const connections = new WeakMap<Socket, Connection>();
const progressEnds = new WeakMap<FastifyRequest, () => void>();

/** The error for a request above the limit. */
export function tooManyRequests(): ServiceError {
  return new ServiceError(
    'unavailable',
    'Too many requests are in progress. Retry after the time in `Retry-After`.',
  );
}

/** The decision about a request. `end` marks the request as finished. */
interface Admission {
  isRefused: boolean;
  end: () => void;
}

/** Counts a request and decides whether it is above the limit. Undefined when its connection serves no further request. */
export type Admit = (request: IncomingMessage, response: ServerResponse) => Admission | undefined;

/** Rejects requests above a limit before their bodies are read. This bounds the memory of waiting requests. */
export function limitRequests(fastify: FastifyInstance, maxRequests: number): Admit {
  let inProgress = 0;
  const admit: Admit = ({ socket }, response) => {
    const { waiting, isTaken } = connectionOf(socket);
    if (isTaken) {
      // The request would wait behind a response that stays open, and Node would not notice when the client disconnects.
      socket.destroy();
      return undefined;
    }
    const isRefused = inProgress >= maxRequests || waiting.size >= maxPerConnection;
    if (!isRefused) inProgress += 1;
    const end = (): void => {
      if (waiting.delete(end) && !isRefused) inProgress -= 1;
    };
    waiting.add(end);
    // Also emitted when the client disconnects before the response.
    response.once('close', end);
    return { isRefused, end };
  };
  fastify.addHook('onRequest', (request, reply, done) => {
    const admission = admit(request.raw, reply.raw);
    if (!admission) return;
    progressEnds.set(request, admission.end);
    if (admission.isRefused) sendProblem(reply, tooManyRequests());
    else done();
  });
  return admit;
}

/** Whether this is the only pending request on its connection. Responses go out in request order, so others would delay it. */
export function isAlone(request: FastifyRequest): boolean {
  return connectionOf(request.raw.socket).waiting.size === 1;
}

/**
 * Lets a response stay open. It no longer counts as in progress, because open responses have a limit of their own, and its
 * connection accepts no other request.
 */
export function keepOpen(request: FastifyRequest): void {
  connectionOf(request.raw.socket).isTaken = true;
  progressEnds.get(request)?.();
}

function connectionOf(socket: Socket): Connection {
  const known = connections.get(socket);
  if (known) return known;
  const connection: Connection = { waiting: new Set(), isTaken: false };
  connections.set(socket, connection);
  // A response that waits behind another one gets no event when the connection closes.
  socket.once('close', () => {
    for (const end of connection.waiting) end();
  });
  return connection;
}
