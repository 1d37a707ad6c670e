import { randomBytes, randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import type { Owner } from '../oauth/tokens.js';
import { formatTimestamp, type Envelope } from './message.js';

/**
 * The platform's close codes (FACTS.md §2). `text` goes into the close frame. The subscriptions and shards of the socket get
 * `status` (§1.6, §3).
 */
const closeReasons = {
  4000: { text: 'internal server error', status: 'websocket_internal_error' },
  4001: { text: 'sent inbound traffic', status: 'websocket_received_inbound_traffic' },
  4002: { text: 'failed ping pong', status: 'websocket_failed_ping_pong' },
  4003: { text: 'connection unused', status: 'websocket_connection_unused' },
  4004: { text: 'client reconnect grace time expired', status: 'websocket_failed_to_reconnect' },
  4005: { text: 'network timeout', status: 'websocket_network_timeout' },
  4006: { text: 'network error', status: 'websocket_network_error' },
  4007: { text: 'invalid reconnect attempt', status: 'websocket_failed_to_reconnect' },
} as const;

export type CloseCode = keyof typeof closeReasons;
export type SocketStatus = (typeof closeReasons)[CloseCode]['status'] | 'websocket_disconnected';

export const closeCodes = Object.keys(closeReasons).map(Number) as CloseCode[]; // Safe cast: the keys are the close codes.

/** A frame about the connection, not about an event. A keepalive frame has no session. */
function composeSessionFrame(
  messageType: 'session_welcome' | 'session_reconnect' | 'session_keepalive',
  session?: object,
): string {
  const metadata = {
    message_id: randomUUID(),
    message_type: messageType,
    message_timestamp: formatTimestamp(new Date()),
  };
  return JSON.stringify({ metadata, payload: session ? { session } : {} });
}

/** The frame of a notification or revocation. The payload is the raw JSON text that a webhook would get as its body. */
function composeFrame({ id, timestamp, type, subscription, body }: Envelope): string {
  const metadata = {
    message_id: id,
    message_type: type,
    message_timestamp: timestamp,
    subscription_type: subscription.type,
    subscription_version: subscription.version,
  };
  return `{"metadata":${JSON.stringify(metadata)},"payload":${body}}`;
}

/** The socket in the platform's responses about subscriptions and shards. */
export interface SocketView {
  readonly method: 'websocket';
  readonly session_id: string;
  readonly connected_at: string;
  disconnected_at?: string;
}

interface SessionOptions {
  /** The host and port that the client connected to. The reconnect URL must use it too. */
  host: string;
  keepaliveSeconds: number;
  /** Milliseconds per second of the socket server. Tests shorten it. */
  secondMs: number;
}

export const socketPath = '/ws';

// In seconds (FACTS.md §2). The platform does not publish its ping interval; its command-line tool uses 5 s.
const unusedAfter = 10;
const graceTime = 30;
const pingEvery = 5;

// Send buffer limit. A client with a larger backlog has stopped reading; its socket closes with a network timeout, as on the platform.
const maxBufferedBytes = 8 * 1024 * 1024;

/**
 * A client's session. It has one socket, and two during a planned reconnect:
 *
 *     welcome ──claim within 10 s──▶ in use ──reconnect()──▶ reconnecting ──adopt()──▶ in use, over the new socket
 *        │                             │                          │
 *      4003                close by either side          4004 after 30 s
 */
export class SocketSession {
  readonly id = `AgoQ${randomBytes(24).toString('base64url')}`; // the platform's ids also begin with AgoQ
  readonly view: SocketView;
  /** Emits `ended` once. */
  readonly events = new EventEmitter<{ ended: [SocketStatus] }>();
  /** Simulates a dead connection: the socket stays open, but the server sends nothing. */
  isSilent = false;
  /** Delay before each frame. */
  delayMs = 0;
  isOpen = true;
  /** The owner of the first subscription. A socket can serve only one owner (FACTS.md §2). */
  owner: Owner | null = null;
  /** Whether the session was ever assigned to a shard. The platform allows only one shard per session. */
  isShard = false;
  /** Single-use secret in the reconnect URL. Null unless a reconnect is in progress. */
  challenge: string | null = null;
  private readonly timers: { unused?: NodeJS.Timeout; grace?: NodeJS.Timeout; keepalive?: NodeJS.Timeout } =
    {};
  private readonly pings: NodeJS.Timeout;
  private isPongDue = false;

  constructor(
    private socket: WebSocket,
    private readonly options: SessionOptions,
  ) {
    this.events.setMaxListeners(0); // each subscription adds a listener
    this.view = { method: 'websocket', session_id: this.id, connected_at: formatTimestamp(new Date()) };
    this.pings = setInterval(() => this.ping(), this.toMs(pingEvery)).unref();
    this.timers.unused = this.after(unusedAfter, () => this.close(4003));
    this.welcome(socket);
  }

  /** Marks the session as used, so that the server does not close it. */
  claim(): void {
    clearTimeout(this.timers.unused);
  }

  /** Returns false if the session has ended. */
  send(message: Envelope): boolean {
    if (this.isOpen) this.write(composeFrame(message));
    return this.isOpen;
  }

  /** Asks the client to connect to a new URL within the grace time, as the platform does before it closes a socket. */
  reconnect(): void {
    if (this.challenge !== null) return;
    this.challenge = randomBytes(16).toString('hex');
    this.writeAboutSession('session_reconnect', {
      status: 'reconnecting',
      keepalive_timeout_seconds: null,
      reconnect_url: `ws://${this.options.host}${socketPath}?challenge=${this.challenge}&id=${this.id}`,
    });
    this.timers.grace = this.after(graceTime, () => this.close(4004));
  }

  /** Moves the session to a new socket. The old socket gets no more frames, and must close within the grace time. */
  adopt(socket: WebSocket): void {
    const old = this.socket;
    this.challenge = null;
    this.socket = socket;
    clearTimeout(this.timers.grace);
    this.timers.grace = this.after(graceTime, () => closeSocket(old, 4004));
    this.welcome(socket);
  }

  close(code: CloseCode): void {
    this.end(closeReasons[code].status);
    closeSocket(this.socket, code);
  }

  /** Drops the connection without a close frame, because the simulator is stopping. */
  terminate(): void {
    this.end('websocket_internal_error');
    this.socket.terminate();
  }

  private welcome(socket: WebSocket): void {
    this.isPongDue = false;
    socket.on('message', () => this.onMessage(socket));
    socket.on('pong', () => (this.isPongDue = false));
    socket.on('close', () => {
      if (socket === this.socket) this.end('websocket_disconnected');
    });
    socket.on('error', () => socket.terminate()); // the `close` event follows and cleans up
    this.writeAboutSession('session_welcome', {
      status: 'connected',
      keepalive_timeout_seconds: this.options.keepaliveSeconds,
      reconnect_url: null,
    });
  }

  /** The session in welcome and reconnect frames (FACTS.md §2). */
  private writeAboutSession(type: 'session_welcome' | 'session_reconnect', state: object): void {
    const { id, view } = this;
    this.write(composeSessionFrame(type, { id, ...state, connected_at: view.connected_at }));
  }

  /** Closes the socket: clients may send only pongs (FACTS.md §2). */
  private onMessage(socket: WebSocket): void {
    if (socket === this.socket) this.close(4001);
    else closeSocket(socket, 4001);
  }

  private write(frame: string): void {
    clearTimeout(this.timers.keepalive);
    const { keepaliveSeconds } = this.options;
    this.timers.keepalive = this.after(keepaliveSeconds, () =>
      this.write(composeSessionFrame('session_keepalive')),
    );
    if (this.isSilent) return;
    const { socket, delayMs } = this;
    if (delayMs > 0) setTimeout(() => socket.send(frame), delayMs).unref();
    else socket.send(frame);
    if (socket.bufferedAmount > maxBufferedBytes) this.close(4005);
  }

  private ping(): void {
    if (this.isSilent) return;
    if (this.isPongDue) return this.close(4002);
    this.isPongDue = true;
    this.socket.ping();
  }

  private end(status: SocketStatus): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.challenge = null;
    clearInterval(this.pings);
    for (const timer of Object.values(this.timers)) clearTimeout(timer);
    this.view.disconnected_at = formatTimestamp(new Date());
    this.events.emit('ended', status);
  }

  private after(seconds: number, act: () => void): NodeJS.Timeout {
    return setTimeout(act, this.toMs(seconds)).unref(); // unref: must not delay shutdown
  }

  private toMs(seconds: number): number {
    return seconds * this.options.secondMs;
  }
}

export function closeSocket(socket: WebSocket, code: CloseCode): void {
  socket.close(code, closeReasons[code].text);
}
