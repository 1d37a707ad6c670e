import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import { formatTimestamp, type Envelope } from '../messages/message.js';
import { closeReasons, type CloseCode, type SocketStatus } from './close-reasons.js';
import { composeFrame, composeSessionFrame } from './frames.js';

/** The socket as the platform's API shows it in subscriptions and shards. */
export interface SocketView {
  readonly method: 'websocket';
  readonly session_id: string;
  readonly connected_at: string;
  disconnected_at?: string;
}

/** The parameters of a new session. */
export interface SessionOptions {
  keepaliveSeconds: number;
  /** Length of one second in milliseconds; tests shorten it. */
  secondMs: number;
}

// All in seconds (docs/platform-facts.md §2). The interval of pings is not published; the platform's command-line tool uses 5 s.
const unusedAfter = 10;
const graceTime = 30;
const pingEvery = 5;

// A client with a larger backlog has stopped reading. The platform closes the client's socket with a network timeout.
const maxBufferedBytes = 8 * 1024 * 1024;

/**
 * One session of a client, over one socket or, during a planned reconnect, two:
 *
 *     welcome ──claim within 10 s──▶ in use ──reconnect()──▶ reconnecting ──adopt()──▶ in use, over the new socket
 *        │                             │                          │
 *      4003                close by either side          4004 after 30 s
 */
export class SocketSession {
  readonly id = `AgoQ${randomBytes(24).toString('base64url')}`; // the platform's ids begin with these letters
  readonly view: SocketView;
  /** Emits `ended` once, when the session has ended. */
  readonly events = new EventEmitter<{ ended: [SocketStatus] }>();
  /** Whether the session is silent: the connection looks open, but no more frames are sent. */
  isSilent = false;
  /** Delays every frame by this time. */
  delayMs = 0;
  isOpen = true;
  /** The single-use secret in the reconnect URL; null when no reconnect is under way. */
  challenge: string | null = null;
  private readonly timers: { unused?: NodeJS.Timeout; grace?: NodeJS.Timeout; keepalive?: NodeJS.Timeout } =
    {};
  private readonly pings: NodeJS.Timeout;
  private isPongDue = false;

  constructor(
    private socket: WebSocket,
    private readonly options: SessionOptions,
  ) {
    this.events.setMaxListeners(0); // one for each subscription
    this.view = { method: 'websocket', session_id: this.id, connected_at: formatTimestamp(new Date()) };
    this.pings = setInterval(() => this.ping(), this.toMs(pingEvery)).unref();
    this.timers.unused = this.after(unusedAfter, () => this.close(4003));
    this.welcome(socket);
  }

  /** Marks the session as used by a subscription or shard. */
  claim(): void {
    clearTimeout(this.timers.unused);
  }

  /** Sends a notification or revocation. Returns false when the session has ended. */
  send(message: Envelope): boolean {
    if (this.isOpen) this.write(composeFrame(message));
    return this.isOpen;
  }

  /** Asks the client to reconnect to this URL within the grace time. */
  reconnect(createUrl: (challenge: string) => string): void {
    if (this.challenge !== null) return;
    this.challenge = randomBytes(16).toString('hex');
    const reconnect_url = createUrl(this.challenge);
    const { id, view } = this;
    const session = { id, status: 'reconnecting', reconnect_url, connected_at: view.connected_at } as const;
    this.write(composeSessionFrame('session_reconnect', { ...session, keepalive_timeout_seconds: null }));
    this.timers.grace = this.after(graceTime, () => this.close(4004));
  }

  /** Continues over a new socket. The old socket gets no more frames and must close within the grace time. */
  adopt(socket: WebSocket): void {
    const old = this.socket;
    this.challenge = null;
    this.socket = socket;
    clearTimeout(this.timers.grace);
    this.timers.grace = this.after(graceTime, () => closeSocket(old, 4004));
    this.welcome(socket);
  }

  /** Closes the session with one of the platform's codes. */
  close(code: CloseCode): void {
    this.end(closeReasons[code].status);
    closeSocket(this.socket, code);
  }

  /** Cuts the connection without a close frame. Used when the simulator stops. */
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
    socket.on('error', () => socket.terminate()); // `close` follows
    const { id, view, options } = this;
    const session = {
      id,
      status: 'connected',
      reconnect_url: null,
      connected_at: view.connected_at,
    } as const;
    const keepalive_timeout_seconds = options.keepaliveSeconds;
    this.write(composeSessionFrame('session_welcome', { ...session, keepalive_timeout_seconds }));
  }

  /** Closes the socket, because clients must send nothing but pongs (docs/platform-facts.md §2). */
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
    return setTimeout(act, this.toMs(seconds)).unref(); // does not delay the shutdown of the service
  }

  private toMs(seconds: number): number {
    return seconds * this.options.secondMs;
  }
}

/** Closes a socket with the platform's code and text. */
export function closeSocket(socket: WebSocket, code: CloseCode): void {
  socket.close(code, closeReasons[code].text);
}
