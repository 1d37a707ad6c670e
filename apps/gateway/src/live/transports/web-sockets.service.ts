import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { ServiceError, type ErrorCode } from '@stream-events/contracts';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { WebSocket, WebSocketServer } from 'ws';
import { printProblem, toServiceError } from '../../http/problem.js';
import { takeWebSocketUpgrades } from '../../http/web-socket-upgrades.js';
import { readToken, refuseWithoutRights } from '../../access/access-control.service.js';
import { TokenLookup } from '../../access/token-lookup.service.js';
import { untilFirstMessage } from './first-message.js';
import { LiveConnections } from '../connections/live-connections.service.js';
import { parseLiveFields, readLiveMessage, readLiveQuery, type LiveFields } from './live-request.js';
import { closeWebSocket, WebSocketSink } from './web-socket.sink.js';
import type { CloseReason } from '../close-codes.js';
import { closeLimitMs, maxMessageBytes, type WebSocketLimits, webSocketLimits } from '../live-limits.js';

/** The path of WebSockets, without its aliases. */
export const webSocketPath = '/ws/platform-events';

// Clients send their message in a few fragments. More fragments would only waste memory.
const maxMessagePieces = 256;

// A separate constant, because @types/ws does not know some of these options yet.
const serverOptions = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: maxMessageBytes,
  maxFragments: maxMessagePieces,
  maxBufferedChunks: maxMessagePieces,
  closeTimeout: closeLimitMs,
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
 *     503      10 s: 4401    4401, 4400, 4429, 1013
 * ```
 */
@Injectable()
export class WebSockets {
  private readonly server = new WebSocketServer(serverOptions);
  /** Sockets that have not sent a valid token yet, or are being rejected, with their start time; the oldest first. */
  private readonly waiting = new Map<WebSocket, number>();
  private readonly failures: FailureLog;
  private isStopped = false;

  constructor(
    private readonly connections: LiveConnections,
    private readonly tokens: TokenLookup,
    @Inject(LOGGER) private readonly logger: Logger,
    @Optional() private readonly limits: WebSocketLimits = webSocketLimits,
  ) {
    this.failures = new FailureLog(logger);
    this.server.on('wsClientError', (error, socket) =>
      refuse(socket, new ServiceError('invalid', `The WebSocket handshake is invalid: ${error.message}.`)),
    );
  }

  /** Handles the WebSocket upgrades of an HTTP server. */
  attach(server: Server): void {
    takeWebSocketUpgrades(server, webSocketPath, (request, socket, head) => {
      if (this.isStopped)
        return refuse(
          socket,
          new ServiceError('unavailable', 'The service is restarting. Try again in a few seconds.'),
        );
      if (!this.makeRoom())
        return refuse(
          socket,
          new ServiceError(
            'unavailable',
            'Too many connections have not sent their token yet. Try again in a few seconds.',
          ),
        );
      this.server.handleUpgrade(request, socket, head, (webSocket) => {
        void this.welcome(webSocket, socket, request);
      });
    });
  }

  /** Closes the sockets that are not live yet, and rejects new ones. */
  stop(): void {
    this.isStopped = true;
    for (const webSocket of this.waiting.keys()) closeWebSocket(webSocket, 'shutting_down');
  }

  /**
   * Whether another socket may wait. At the maximum, closes the one that has waited longest: ordinary clients send their token
   * immediately, so the oldest one is probably an attacker's.
   */
  private makeRoom(): boolean {
    if (this.waiting.size < this.limits.waiting) return true;
    const [oldest] = this.waiting;
    if (!oldest) return false;
    const [webSocket, since] = oldest;
    if (performance.now() < since + this.limits.patienceMs) return false;
    this.waiting.delete(webSocket);
    webSocket.terminate();
    return true;
  }

  private async welcome(webSocket: WebSocket, socket: Duplex, request: IncomingMessage): Promise<void> {
    // ws itself closes the connection with the right code when the client breaks the protocol.
    webSocket.on('error', () => undefined);
    this.waiting.set(webSocket, performance.now());
    webSocket.once('close', () => this.waiting.delete(webSocket));
    endWhenSilent(webSocket, this.limits.pingMs);
    try {
      await this.admit(webSocket, socket, request);
    } catch (error) {
      this.turnAway(webSocket, toServiceError(error));
    }
  }

  private async admit(webSocket: WebSocket, socket: Duplex, request: IncomingMessage): Promise<void> {
    const query = readLiveQuery(request.url ?? '/');
    const { token, fields } = await this.readIntroduction(webSocket, request.headers.authorization);
    const caller = await this.tokens.authenticate(token);
    refuseWithoutRights(['events:live'], caller);
    const { request: liveRequest, positions } = parseLiveFields({ ...query, ...fields });
    // In the meantime, the client may have disconnected, or the process may be stopping.
    if (webSocket.readyState !== WebSocket.OPEN) return;
    if (!(socket instanceof Socket)) throw new Error('the HTTP server listens on TCP sockets only');
    const connection = this.connections.open(liveRequest, {
      caller,
      makeSink: () => new WebSocketSink(webSocket, socket, positions ? 'positioned' : 'plain'),
    });
    this.waiting.delete(webSocket);
    webSocket.once('close', () => connection.close('left'));
  }

  /** Reads the token and the options of the first message. Waits for no message if the handshake has a token. */
  private async readIntroduction(
    webSocket: WebSocket,
    authorization: string | undefined,
  ): Promise<{ token: string; fields?: LiveFields }> {
    const token = readToken(authorization);
    if (token !== undefined) return { token };
    const text = await untilFirstMessage(webSocket, this.limits.tokenMs);
    const fields = text === undefined ? undefined : readLiveMessage(text);
    if (typeof fields?.token === 'string') return { token: fields.token, fields };
    throw new ServiceError(
      'unauthenticated',
      `Send {"token": "<key>"} as the first message within ${this.limits.tokenMs / 1_000} seconds.`,
    );
  }

  private turnAway(webSocket: WebSocket, error: ServiceError): void {
    if (this.isStopped) return closeWebSocket(webSocket, 'shutting_down');
    const reason = reasonByCode[error.code];
    if (!reason) this.log(error);
    closeWebSocket(webSocket, reason ?? 'overloaded', describe(error));
  }

  private log(error: ServiceError): void {
    const details = { err: error.cause ?? error };
    // In an outage, all connections fail for the same reason: log it once.
    if (error.code === 'unavailable') this.failures.warn('rejecting live connections', details);
    else this.logger.error(details, 'live connection failed');
  }
}

/** Describes an error briefly enough for a close frame: the errors by field, if there are any. */
function describe({ detail, errors }: ServiceError): string {
  const faults = Object.entries(errors ?? {}).map(([field, texts]) => `${field}: ${texts.join(', ')}`);
  return faults.length > 0 ? faults.join('; ') : detail;
}

/** Rejects a handshake with an error response. */
function refuse(socket: Duplex, error: ServiceError): void {
  socket.once('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  socket.end(printProblem(error));
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
