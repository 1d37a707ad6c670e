import type { Socket } from 'node:net';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendProblem } from './problem.js';

/** A connection of a client. */
interface Connection {
  /** Ends the progress of each request that is not answered yet. */
  readonly waiting: Set<() => void>;
  /** Whether the answer that is on its way stays open. */
  isTaken: boolean;
}

// Hardly any client sends requests ahead of answers. Without a limit a few connections could take the places of all.
const maxPerConnection = 16;

const connections = new WeakMap<Socket, Connection>();
const progressEnds = new WeakMap<FastifyRequest, () => void>();

/** Refuses what is too much at once, before its body is read: what waits in memory is bounded. */
export function limitRequests(fastify: FastifyInstance, maxRequests: number): void {
  let inProgress = 0;
  fastify.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const { waiting, isTaken } = connectionOf(socket);
    // It would wait for an answer that stays open, and Node would not notice any more that the client has gone.
    if (isTaken) return void socket.destroy();
    const isRefused = inProgress >= maxRequests || waiting.size >= maxPerConnection;
    if (!isRefused) inProgress += 1;
    const end = (): void => {
      if (waiting.delete(end) && !isRefused) inProgress -= 1;
    };
    waiting.add(end);
    progressEnds.set(request, end);
    // Also when the client has gone before its answer.
    reply.raw.once('close', end);
    if (isRefused)
      sendProblem(reply, new ServiceError('unavailable', 'Too many requests at once. Try again soon.'));
    else done();
  });
}

/** Whether no other request of the connection waits for its answer: answers come in the order of the requests. */
export function isAlone(request: FastifyRequest): boolean {
  return connectionOf(request.raw.socket).waiting.size === 1;
}

/**
 * Lets an answer stay open: it is counted no more among those in progress, since such answers have a limit of their own, and
 * its connection is for no other request.
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
  // Answers that wait for the one before them are not told that their connection has ended.
  socket.once('close', () => {
    for (const end of connection.waiting) end();
  });
  return connection;
}
