import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyInstance } from 'fastify';
import { AnonymousRequests, type AnonymousLimits } from './anonymous-requests.js';
import { linger } from './early-responses.js';
import { maxRequestsPerConnection } from './http-limits.js';
import { canonicalUrl, pathOf } from './paths.js';
import { writeProblem } from './problem.js';
import { anonymousKeyOf, connectionOf, tooManyRequests } from './requests-in-progress.js';

/** Serves a request. */
type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** Passes a request to `serve`, or refuses the request. */
export type Gate = (request: IncomingMessage, response: ServerResponse, serve: Serve) => void;

/**
 * Checks the token in an `Authorization` header. Returns undefined if the header contains no token. The promise never rejects: it resolves
 * to true if the token cannot be checked at the moment.
 */
export type RecognizeToken = (authorization: string | undefined) => Promise<boolean> | undefined;

/** The limit on requests without a valid token, and how the gate recognizes a token. */
interface Anonymous {
  requests: AnonymousRequests;
  recognize: RecognizeToken;
}

const limitsOf = new WeakMap<Server, Anonymous>();

/**
 * Creates the check that each request passes before Fastify and before the direct routes. Both would take many times as long as the
 * refusal:
 *
 * ```
 *  request ──▶ follows a refused request on its connection? ──────────yes──▶ dropped
 *              │ no
 *              ├▶ `maxRequestsPerConnection` are pending? ──────────────yes──▶ 503 ─┐
 *              ├▶ no valid token, and the address is at its limit? ─────yes──▶ 429 ─┴─▶ the connection closes
 *              ▼ no
 *            served
 * ```
 *
 * Platform messages need no token, and the platform may send all of them from one address.
 */
export function createGate(fastify: FastifyInstance, limits: AnonymousLimits): Gate {
  const anonymous: Anonymous = { requests: new AnonymousRequests(limits), recognize: () => undefined };
  limitsOf.set(fastify.server, anonymous);
  const isMessage = findMessageRoutes(fastify);
  return (request, response, serve) => {
    const { socket, method, headers } = request;
    const connection = connectionOf(socket);
    if (connection.isRefused) return;
    // The new request would wait behind a response that stays open, and Node would not notice when the client disconnects.
    if (connection.isTaken) return void socket.destroy();
    const { pending } = connection;
    if (pending.size >= maxRequestsPerConnection) return refuse(request, response, tooManyRequests());
    pending.add(response);
    // Each part of the gateway that holds something for a request releases it when the response closes.
    response.setMaxListeners(20);
    // Node also emits `close` when the client disconnects early.
    response.once('close', () => pending.delete(response));
    if (isMessage(request)) return serve(request, response);
    const key = anonymousKeyOf(request);
    // Browsers send preflights without a token. The gateway answers them before it checks a token.
    const recognition = method === 'OPTIONS' ? undefined : anonymous.recognize(headers.authorization);
    const { requests } = anonymous;
    if (!recognition) {
      if (requests.take(key)) serve(request, response);
      else refuse(request, response, tooManyWithoutToken());
    } else if (requests.hasRoom(key)) {
      serve(request, response);
      void recognition.then((isValid) => isValid || requests.take(key));
    } else
      void recognition.then((isValid) => {
        if (response.destroyed) return;
        if (isValid) serve(request, response);
        else refuse(request, response, tooManyWithoutToken());
      });
  };
}

/** Makes the gate of a server recognize tokens. Until then, every request counts as one without a token. */
export function recognizeTokens(server: Server, recognize: RecognizeToken): void {
  limitOf(server).recognize = recognize;
}

/** The limit on requests without a valid token, for WebSockets, which do not pass the gate. */
export function anonymousRequestsOf(server: Server): AnonymousRequests {
  return limitOf(server).requests;
}

function limitOf(server: Server): Anonymous {
  const anonymous = limitsOf.get(server);
  if (!anonymous) throw new Error('the HTTP server has no gate');
  return anonymous;
}

/** Finds out which requests are platform messages, from the routes of the server. */
function findMessageRoutes(fastify: FastifyInstance): (request: IncomingMessage) => boolean {
  const paths: RegExp[] = [];
  fastify.addHook('onRoute', ({ url, config }) => {
    if (config?.receivesMessages) paths.push(new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`));
  });
  return ({ method, url = '/' }) => {
    if (method !== 'POST') return false;
    const path = pathOf(canonicalUrl(url));
    return paths.some((each) => each.test(path));
  };
}

/**
 * Sends the last response of a connection. Drops the other requests of the same read, which Node has already parsed, and everything that
 * the client still sends: parsing it would take as long as serving it.
 */
function refuse(request: IncomingMessage, response: ServerResponse, error: ServiceError): void {
  const { socket } = request;
  connectionOf(socket).isRefused = true;
  // Without its `data` listener, Node's parser gets no more input.
  socket.removeAllListeners('data').on('data', () => undefined);
  linger(request);
  writeProblem(response, error, { 'X-Request-Id': randomUUID(), Connection: 'close' });
}

export function tooManyWithoutToken(): ServiceError {
  return new ServiceError(
    'too_many_requests',
    'Too many requests from this address had no valid token. Retry after the time in `Retry-After`.',
    { retryAfterSeconds: 1 },
  );
}
