import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { ServiceError } from '@stream-events/contracts';
import { addressKey, clientAddressOf, type IsTrusted } from './client-address.js';
import {
  maxBodyBytes,
  messageBodyLimitMs,
  minBodyCost,
  type ClientLimit,
  type HttpLimits,
} from './http-limits.js';

// A closing server serves requests for this long, with responses that announce the end of their connections. Then it ends the connections
// on which no request is in progress.
const closingMs = 1_000;
const checkMs = 50;
// Then the requests in progress have this long. The process must stop within 25 s.
const lastRequestsMs = 10_000;

/** In metrics and traces, the status of a request whose client disconnected before the response began. nginx logs the same number. */
export const clientDisconnected = 499;

/** Calls back with the response status once the response has been sent or its client has disconnected. */
export function whenClosed(response: ServerResponse, onClosed: (status: number) => void): void {
  response.once('close', () => onClosed(response.headersSent ? response.statusCode : clientDisconnected));
}

export function tooManyRequests(): ServiceError {
  return new ServiceError(
    'unavailable',
    'Too many requests are in progress. Retry after the time in `Retry-After`.',
  );
}

/** Counts what clients occupy, per client and in total. */
export class ClientCounter {
  private readonly held = new Map<string, number>();
  private total = 0;

  constructor(private readonly limit: ClientLimit) {}

  /** Counts an amount until the caller calls the returned function. Returns undefined, and counts nothing, above a limit. */
  take(key: string, amount = 1): (() => void) | undefined {
    const { total, perAddress } = this.limit;
    if (this.total + amount > total || this.heldBy(key) + amount > perAddress) return undefined;
    this.add(key, amount);
    let isHeld = true;
    return () => {
      if (isHeld) this.add(key, -amount);
      isHeld = false;
    };
  }

  private heldBy(key: string): number {
    return this.held.get(key) ?? 0;
  }

  private add(key: string, amount: number): void {
    const held = this.heldBy(key) + amount;
    if (held > 0) this.held.set(key, held);
    else this.held.delete(key);
    this.total += amount;
  }
}

/** A request that waits for the end of earlier responses on its connection. */
interface Waiting {
  begin: () => void;
  /** Stops counting the request as pipelined. */
  leaveQueue?: () => void;
}

interface Connection {
  /** Whether the peer is a trusted proxy. */
  readonly isProxy: boolean;
  /** The client address of a request. Behind a trusted proxy, each request can come from a different client. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Stops counting the connection. Undefined for a trusted proxy. */
  readonly stopCounting: (() => void) | undefined;
  /** The response that is being prepared or sent. */
  response?: ServerResponse | undefined;
  readonly waiting: Waiting[];
  /** Bytes read from the client when a request was refused. Further requests are dropped. */
  refusedAt?: number;
  isWebSocket?: boolean;
}

const connections = new WeakMap<Duplex, Connection>();

/**
 * Limits the connections, pipelined requests, and unfinished bodies of clients. Requests on a connection are served one after another,
 * because Node reports the end of a connection only to the response that it is sending.
 */
export class ClientLimits {
  private readonly open = new Map<Socket, Connection>();
  private readonly counters: Record<'connections' | 'pipelined' | 'bodies' | 'messageBodies', ClientCounter>;
  private isClosing = false;

  constructor(
    limits: HttpLimits,
    private readonly isTrusted: IsTrusted,
  ) {
    this.counters = {
      connections: new ClientCounter(limits.connections),
      pipelined: new ClientCounter(limits.pipelined),
      bodies: new ClientCounter(limits.bodies),
      messageBodies: new ClientCounter(limits.messageBodies),
    };
  }

  /** Counts a new connection, or closes it. */
  accept(socket: Socket): void {
    // A declined upgrade returns its socket to the server, which then emits `connection` a second time.
    if (connections.has(socket)) return;
    const address = socket.remoteAddress ?? '';
    // Connections of a trusted proxy have no limit, because they serve all clients behind the proxy.
    const isProxy = this.isTrusted(address, 0);
    const stopCounting = isProxy ? undefined : this.counters.connections.take(addressKey(address));
    if (!isProxy && !stopCounting) return void socket.destroy();
    const addressOf = isProxy
      ? (request: IncomingMessage) => clientAddressOf(request, this.isTrusted)
      : () => address;
    const connection: Connection = { isProxy, addressOf, stopCounting, waiting: [] };
    connections.set(socket, connection);
    this.open.set(socket, connection);
    // Node removes its own listener at an upgrade. An error without a listener would crash the process.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.open.delete(socket);
      stopCounting?.();
      for (const { leaveQueue } of connection.waiting) leaveQueue?.();
    });
  }

  /**
   * Calls `serve` when all earlier requests of the connection have been answered. If too many requests are waiting, calls `refuse` instead,
   * and drops what follows (`dropRequests`).
   */
  serveInTurn(
    request: IncomingMessage,
    response: ServerResponse,
    serve: () => void,
    refuse: () => void,
  ): void {
    const { socket } = request;
    const connection = connectionOf(socket);
    const { refusedAt } = connection;
    if (refusedAt !== undefined) {
      if (socket.bytesRead > refusedAt) socket.destroy();
      return;
    }
    const begin = (): void => {
      connection.response = response;
      if (this.isClosing) response.setHeader('Connection', 'close');
      // Node also emits `close` when the client disconnects, because no earlier response is pending.
      response.once('close', () => this.endTurn(socket, connection));
      serve();
    };
    if (!connection.response) return begin();
    const leaveQueue = this.counters.pipelined.take(clientKeyOf(request));
    if (!leaveQueue) dropRequests(socket);
    connection.waiting.push(leaveQueue ? { begin, leaveQueue } : { begin: refuse });
  }

  private endTurn(socket: Socket, connection: Connection): void {
    connection.response = undefined;
    // The client has disconnected, or the response was the last one of the connection.
    if (socket.destroyed || socket.writableEnded) return;
    const next = connection.waiting.shift();
    next?.leaveQueue?.();
    if (next) next.begin();
    else if (this.isClosing) socket.end();
  }

  /**
   * Counts a body that did not arrive together with its head, until it has arrived. Calls `refuse` if the body exceeds a limit: at once, or
   * when a platform message is late. Node ends other late requests. The response must contain `Connection: close`.
   */
  watchBody(
    request: IncomingMessage,
    kind: 'bodies' | 'messageBodies',
    refuse: (error: ServiceError) => void,
  ): void {
    // First, Node must parse all the bytes that it has read.
    setImmediate(() => {
      if (request.complete || request.destroyed) return;
      const bytes = Math.min(Number(request.headers['content-length'] ?? maxBodyBytes), maxBodyBytes);
      const release = this.counters[kind].take(clientKeyOf(request), Math.max(bytes, minBodyCost));
      if (!release) return refuse(tooManyRequests());
      const onLate = (): void =>
        refuse(new ServiceError('request_timeout', 'The body of the request did not arrive in time.'));
      const timer = kind === 'messageBodies' ? setTimeout(onLate, messageBodyLimitMs) : undefined;
      request.once('close', () => {
        clearTimeout(timer);
        release();
      });
    });
  }

  /** Ends the connections on which no request is in progress. Resolves when the server can close. */
  async close(server: Server): Promise<void> {
    this.isClosing = true;
    for (const { response } of this.open.values())
      if (response?.headersSent === false) response.setHeader('Connection', 'close');
    const deadline = performance.now() + closingMs;
    while (this.open.size > 0 && performance.now() < deadline) await wait(checkMs);
    for (const [socket, { response, isWebSocket }] of this.open)
      if (!isWebSocket && !response?.req.complete) socket.destroy();
    setTimeout(() => server.closeAllConnections(), lastRequestsMs).unref();
  }
}

/** Drops the further requests of the same read, which Node parses anyway. Ends the connection when the client sends more. */
export function dropRequests(socket: Socket): void {
  connectionOf(socket).refusedAt = socket.bytesRead;
}

/** The response that is being prepared or sent on a connection. */
export function responseOn(socket: Duplex): ServerResponse | undefined {
  return connections.get(socket)?.response;
}

/** Excludes a connection from those that end when the server closes. */
export function becomeWebSocket(socket: Duplex): void {
  connectionOf(socket).isWebSocket = true;
}

/** Stops counting a live connection toward the connection limit, because live connections have a separate limit. */
export function stopCounting(socket: Duplex): void {
  connectionOf(socket).stopCounting?.();
}

/** The client address of a request that bypasses Fastify. Equals Fastify's `request.ip`. */
export function clientAddress(request: IncomingMessage): string {
  return connectionOf(request.socket).addressOf(request);
}

/** The key under which limits count the client of a request (`addressKey`). */
export function clientKeyOf(request: IncomingMessage): string {
  return addressKey(clientAddress(request));
}

/**
 * The key under which a limit counts a client without a token (`addressKey`). Undefined for a trusted proxy that sends a request of its
 * own, such as a health check, or that names no client.
 */
export function anonymousKeyOf(request: IncomingMessage): string | undefined {
  const { isProxy } = connectionOf(request.socket);
  return isProxy && clientAddress(request) === request.socket.remoteAddress
    ? undefined
    : clientKeyOf(request);
}

function connectionOf(socket: Duplex): Connection {
  const connection = connections.get(socket);
  if (!connection) throw new Error('the connection belongs to a server without limits');
  return connection;
}
