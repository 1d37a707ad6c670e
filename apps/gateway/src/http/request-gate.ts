import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyInstance } from 'fastify';
import { AnonymousRequests } from './anonymous-requests.js';
import { anonymousKeyOf, dropRequests, tooManyRequests, type ClientLimits } from './client-limits.js';
import { lingerMs, type HttpLimits } from './http-limits.js';
import { canonicalUrl, pathOf } from './paths.js';
import { printProblem } from './problem.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route receives signed platform messages. They have separate limits. */
    receivesMessages?: boolean;
  }
}

/**
 * Checks the token in an `Authorization` header. Returns undefined if the header contains no token. The promise never rejects: it resolves
 * to true if the token cannot be checked at the moment.
 */
export type RecognizeToken = (authorization: string | undefined) => Promise<boolean> | undefined;

const gates = new WeakMap<Server, RequestGate>();

/**
 * The check that each request passes before Fastify and before the direct routes. Both would take many times as long as the refusal:
 *
 * ```
 *  request ──▶ follows a refused request on its connection? ──────────yes──▶ dropped
 *              │ no
 *              ├▶ too many pipelined requests of its client wait? ──────yes──▶ 503 ─┐ after the earlier responses,
 *              │ waits for its turn on the connection                               │ and the connection closes
 *              ├▶ no valid token, and the address is at its limit? ─────yes──▶ 429 ─┘
 *              ▼ no
 *            served
 * ```
 *
 * Platform messages need no token, and the platform may send all of them from one address.
 */
export class RequestGate {
  /** The requests without a valid token. WebSockets count too, but do not pass the gate. */
  readonly anonymous: AnonymousRequests;
  /** Until this is set, every request counts as one without a token. */
  recognize: RecognizeToken = () => undefined;
  private readonly messagePaths: RegExp[] = [];

  constructor(
    limits: HttpLimits,
    private readonly clients: ClientLimits,
  ) {
    this.anonymous = new AnonymousRequests(limits.anonymous);
  }

  /** Learns from the routes which requests are platform messages. */
  watchRoutes(fastify: FastifyInstance): void {
    gates.set(fastify.server, this);
    fastify.addHook('onRoute', ({ url, config }) => {
      if (config?.receivesMessages)
        this.messagePaths.push(new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`));
    });
  }

  /** Serves a request in its turn, or refuses the request. */
  admit(request: IncomingMessage, response: ServerResponse, serve: () => void): void {
    this.clients.serveInTurn(
      request,
      response,
      () => this.check(request, response, serve),
      () => refuse(request, tooManyRequests()),
    );
  }

  private check(request: IncomingMessage, response: ServerResponse, serve: () => void): void {
    if (this.isMessage(request)) return serve();
    const { method, headers } = request;
    const key = anonymousKeyOf(request);
    // Browsers send preflights without a token. The gateway answers them before it checks a token.
    const recognition = method === 'OPTIONS' ? undefined : this.recognize(headers.authorization);
    if (this.anonymous.take(key)) {
      serve();
      void recognition?.then((isValid) => isValid && this.anonymous.giveBack(key));
    } else if (!recognition) refuse(request, tooManyWithoutToken());
    else
      void recognition.then((isValid) => {
        if (response.destroyed) return;
        if (isValid) serve();
        else refuse(request, tooManyWithoutToken());
      });
  }

  private isMessage({ method, url = '/' }: IncomingMessage): boolean {
    if (method !== 'POST') return false;
    const path = pathOf(canonicalUrl(url));
    return this.messagePaths.some((each) => each.test(path));
  }
}

export function gateOf(server: Server): RequestGate {
  const gate = gates.get(server);
  if (!gate) throw new Error('the HTTP server has no gate');
  return gate;
}

/**
 * Sends the last response of a connection, without the work of Fastify. Drops what the client still sends: parsing it would take as long as
 * serving it.
 */
function refuse({ socket }: IncomingMessage, error: ServiceError): void {
  dropRequests(socket);
  endSocket(socket, printProblem(error, { 'x-request-id': randomUUID() }));
}

/**
 * Writes the last bytes of a connection, and destroys it when its client has had time to read them. If it were destroyed at once, the
 * operating system could reset the connection, and the client might never see the response.
 */
export function endSocket(socket: Duplex, text: string): void {
  socket.end(text);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

export function tooManyWithoutToken(): ServiceError {
  return new ServiceError(
    'too_many_requests',
    'Too many requests from this address had no valid token. Retry after the time in `Retry-After`.',
    { retryAfterSeconds: 1 },
  );
}
