import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { ServiceError, type ErrorCode } from '@stream-events/contracts';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { WebSocket, WebSocketServer } from 'ws';
import type { AnonymousRequests } from '../../http/anonymous-requests.js';
import { printProblem, toServiceError } from '../../http/problem.js';
import { endSocket, gateOf, tooManyWithoutToken } from '../../http/request-gate.js';
import {
  anonymousKeyOf,
  clientAddress,
  ClientCounter,
  clientKeyOf,
  stopCounting,
} from '../../http/client-limits.js';
import { takeWebSocketUpgrades } from '../../http/web-socket-upgrades.js';
import { readToken, refuseWithoutRights } from '../../access/access-control.service.js';
import { RateLimits } from '../../access/rate-limits.service.js';
import { TokenLookup } from '../../access/token-lookup.service.js';
import { untilFirstMessage } from './first-message.js';
import type { LiveConnection } from '../connections/live-connection.js';
import { LiveConnections, restarting } from '../connections/live-connections.service.js';
import { parseLiveFields, readLiveMessage, readLiveQuery, type LiveFields } from './live-request.js';
import { limitFrames } from './frame-limit.js';
import { closeWebSocket, WebSocketSink } from './web-socket.sink.js';
import type { CloseReason } from '../close-codes.js';
import { closeLimitMs, maxMessageBytes, type WebSocketLimits } from '../live-limits.js';

/** The path of WebSockets, without its aliases. */
export const webSocketPath = '/ws/platform-events';

/** Injection token of `WebSocketOptions`. */
export const WEB_SOCKET_OPTIONS = Symbol('WEB_SOCKET_OPTIONS');

export interface WebSocketOptions extends WebSocketLimits {
  /** The message format of clients that did not ask for positions. */
  plainFormat: 'plain' | 'tau';
}

// Maximum number of fragments per message. Each fragment costs memory, and clients need only a few.
const maxMessagePieces = 256;

// Not inlined into the constructor call: TypeScript would reject `closeTimeout`, which @types/ws does not declare yet.
const serverOptions = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: maxMessageBytes,
  maxFragments: maxMessagePieces,
  maxBufferedChunks: maxMessagePieces,
  closeTimeout: closeLimitMs,
  // Handle one message, ping, or pong per socket in each event-loop turn, so that a read full of small frames does not block other clients.
  allowSynchronousEvents: false,
};

const reasonByCode: Partial<Record<ErrorCode, CloseReason>> = {
  invalid: 'invalid',
  unauthenticated: 'unauthenticated',
  forbidden: 'forbidden',
  too_many_requests: 'too_many',
};

/**
 * Accepts WebSocket clients for live events.
 *
 * ```
 *                     first message, or
 *                       Authorization                    valid
 *  handshake ──▶ waiting ──────────▶ checking the token ───────▶ LiveConnection
 *      │            │                  │
 * 400, 429, 503  10 s: 4401      4401, other codes
 * ```
 *
 * The other codes are 4400, 4403, 4429, and 1013. In every state, a shutdown closes the socket with 1012.
 */
@Injectable()
export class WebSockets {
  private readonly server = new WebSocketServer(serverOptions);
  /** Sockets that are not live yet, including those that are being rejected. */
  private readonly waiting = new Set<WebSocket>();
  private readonly places: ClientCounter;
  private readonly failures: FailureLog;
  private isStopped = false;

  constructor(
    private readonly connections: LiveConnections,
    private readonly tokens: TokenLookup,
    private readonly rateLimits: RateLimits,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(WEB_SOCKET_OPTIONS) private readonly options: WebSocketOptions,
  ) {
    this.failures = new FailureLog(logger);
    this.places = new ClientCounter(options.waiting);
    this.server.on('wsClientError', (error, socket) =>
      endSocket(
        socket,
        printProblem(new ServiceError('invalid', `The WebSocket handshake is invalid: ${error.message}.`)),
      ),
    );
  }

  /** Accepts WebSocket upgrades on an HTTP server. */
  attach(server: Server): void {
    const { anonymous } = gateOf(server);
    takeWebSocketUpgrades(server, webSocketPath, (request, socket, head) => {
      this.accept({ request, socket, head }, anonymous).catch((error: unknown) => {
        const refusal = toServiceError(error);
        if (refusal.code === 'internal') this.log(refusal);
        endSocket(socket, printProblem(refusal));
      });
    });
  }

  /** Closes the sockets that are not live yet, and rejects new ones. */
  stop(): void {
    this.isStopped = true;
    for (const webSocket of this.waiting) closeWebSocket(webSocket, 'shutting_down');
  }

  private async accept({ request, socket, head }: Handshake, anonymous: AnonymousRequests): Promise<void> {
    if (this.isStopped) throw restarting();
    // Other clients behind the same address can still connect with a valid token in the handshake.
    if (!anonymous.hasRoom(anonymousKeyOf(request)) && !(await this.hasValidToken(request)))
      throw tooManyWithoutToken();
    const release = this.places.take(clientKeyOf(request));
    if (!release)
      throw new ServiceError(
        'unavailable',
        'Too many connections have not sent their token yet. Try again in a few seconds.',
      );
    socket.once('close', release);
    const client = { request, socket, release, anonymous };
    this.server.handleUpgrade(request, socket, head, (webSocket) => void this.welcome(webSocket, client));
  }

  private async hasValidToken({ headers }: IncomingMessage): Promise<boolean> {
    const token = readToken(headers.authorization);
    return token !== undefined && (await this.tokens.identify(token)) !== undefined;
  }

  private async welcome(webSocket: WebSocket, client: WaitingClient): Promise<void> {
    // If the client breaks the protocol, ws itself closes the connection with the right code. An `error` event without a listener would
    // throw.
    webSocket.on('error', () => undefined);
    this.waiting.add(webSocket);
    webSocket.once('close', () => this.waiting.delete(webSocket));
    endWhenSilent(webSocket, this.options.pingMs);
    const frames = limitFrames(webSocket, (text) => closeWebSocket(webSocket, 'invalid', text));
    try {
      const connection = await this.admit(webSocket, client);
      if (connection) frames.close = (text) => connection.close('invalid', text);
    } catch (error) {
      this.turnAway(webSocket, client, toServiceError(error));
    }
  }

  /** Returns undefined if the client disconnects. */
  private async admit(
    webSocket: WebSocket,
    { request, socket, release, anonymous }: WaitingClient,
  ): Promise<LiveConnection | undefined> {
    const query = readLiveQuery(request.url ?? '/');
    const introduction = await this.readIntroduction(webSocket, request.headers.authorization);
    if (!introduction) {
      anonymous.take(anonymousKeyOf(request));
      return undefined;
    }
    const { token, fields } = introduction;
    const caller = await this.tokens.authenticate(token);
    refuseWithoutRights(['events:live'], caller);
    // Count the handshake against the rate limits: a client that reconnects in a loop can cause a position lookup each time.
    this.rateLimits.take(caller, { method: 'GET', bodyBytes: 0 }, () => undefined);
    const { request: liveRequest, positions } = parseLiveFields({ ...query, ...fields });
    // During the checks above, the client may have disconnected, or `stop` may have closed the socket.
    if (webSocket.readyState !== WebSocket.OPEN) return undefined;
    if (!(socket instanceof Socket)) throw new Error('the HTTP server listens on TCP sockets only');
    const connection = this.connections.open(liveRequest, {
      caller,
      address: clientAddress(request),
      makeSink: () =>
        new WebSocketSink(webSocket, socket, positions ? 'positioned' : this.options.plainFormat),
    });
    this.waiting.delete(webSocket);
    release();
    stopCounting(socket);
    webSocket.once('close', (code) => connection.leave(code));
    return connection;
  }

  /**
   * Returns the token in the handshake. If the handshake has no token, waits for the first message and returns its token and options.
   * Returns undefined if the client disconnects before it sends a message.
   *
   * @throws ServiceError `unauthenticated` if no message arrives in time, or the first message contains no token
   */
  private async readIntroduction(
    webSocket: WebSocket,
    authorization: string | undefined,
  ): Promise<{ token: string; fields?: LiveFields } | undefined> {
    const token = readToken(authorization);
    if (token !== undefined) return { token };
    const text = await untilFirstMessage(webSocket, this.options.tokenMs);
    if (text === undefined && webSocket.readyState !== WebSocket.OPEN) return undefined;
    const fields = text === undefined ? undefined : readLiveMessage(text);
    if (typeof fields?.token === 'string') return { token: fields.token, fields };
    throw new ServiceError(
      'unauthenticated',
      `Send {"token": "<key>"} as the first message within ${this.options.tokenMs / 1_000} seconds.`,
    );
  }

  private turnAway(webSocket: WebSocket, { request, anonymous }: WaitingClient, error: ServiceError): void {
    if (this.isStopped) return closeWebSocket(webSocket, 'shutting_down');
    const reason = reasonByCode[error.code];
    if (!reason) this.log(error);
    if (reason === 'unauthenticated') anonymous.take(anonymousKeyOf(request));
    closeWebSocket(webSocket, reason ?? 'overloaded', describe(error));
  }

  private log(error: ServiceError): void {
    const details = { err: error.cause ?? error };
    // Do not log each connection during an outage: all of them fail for the same reason.
    if (error.code === 'unavailable') this.failures.warn('rejecting live connections', details);
    else this.logger.error(details, 'live connection failed');
  }
}

/** An upgrade request. `head` holds the bytes that followed the request in the same read. */
interface Handshake {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

/** A client whose socket is not live yet. */
interface WaitingClient extends Omit<Handshake, 'head'> {
  /** Stops counting the client among the waiting sockets. */
  release: () => void;
  /** Counts the client if it presents no valid token. */
  anonymous: AnonymousRequests;
}

/** Formats an error for a close frame: the errors by field or, if there are none, the detail. */
function describe({ detail, errors }: ServiceError): string {
  const faults = Object.entries(errors ?? {}).map(([field, texts]) => `${field}: ${texts.join(', ')}`);
  return faults.length > 0 ? faults.join('; ') : detail;
}

/** Pings a socket regularly, and terminates it if no pong arrives before the next ping. */
function endWhenSilent(webSocket: WebSocket, pingMs: number): void {
  let isAlive = true;
  webSocket.on('pong', () => {
    isAlive = true;
  });
  const timer = setInterval(() => {
    if (!isAlive) return webSocket.terminate();
    isAlive = false;
    webSocket.ping();
  }, pingMs);
  webSocket.once('close', () => clearInterval(timer));
}
