import { ServiceError } from '@stream-events/contracts';
import { inbound, type SocketFrame } from '@stream-events/platforms';
import type { FailureLog } from '@stream-events/service';
import { WebSocket } from 'ws';

export interface LinkEnd {
  /** The close code; null when the connection ended without one. */
  code: number | null;
  reason: string;
  /** When the last frame arrived, in milliseconds since 1970. Without any frame, when the link was opened. */
  since: number;
}

export interface LinkListener {
  onFrame(frame: SocketFrame): void;
  /** Reports that the link has ended. Called exactly once, even if the connection was never established. */
  onEnded(end: LinkEnd): void;
}

export interface LinkOptions {
  failures: FailureLog;
  /** How long a second lasts, in milliseconds. Tests shorten it. */
  secondMs: number;
}

// In seconds. The platform usually replies within a fraction of a second.
const connectWithin = 10;
const welcomeWithin = 10;
// In seconds. The platform sends at least one frame in each keep-alive interval; this margin allows for a slow network.
const keepAliveMargin = 3;
const closeWithin = 2;

// Maximum size of a frame: four times the 256 KiB limit for a webhook body.
const maxFrameBytes = 1024 * 1024;

// The codes that ws reports for a connection that ended without a close frame or without a code.
const codesWithoutMeaning = [1005, 1006];

/**
 * One WebSocket connection to the platform. Sends only pongs: the platform closes a socket that sends anything else.
 *
 * ```
 *  connecting ──10 s──▶ open ──10 s──▶ welcomed ──▶ any frame restarts the watchdog
 *      │                 │                │
 *      └─────────────────┴────────────────┴─── closed, failed, or silent for too long ──▶ ended
 * ```
 */
export class SocketLink {
  private readonly socket: WebSocket;
  private watchdog: NodeJS.Timeout;
  private failure: string | undefined;
  private lastFrameAt = Date.now();
  /** Resolves when the link has ended. */
  readonly ended: Promise<void>;

  /** @throws SyntaxError when the URL is not a valid WebSocket URL */
  constructor(
    url: string,
    private readonly listener: LinkListener,
    private readonly options: LinkOptions,
  ) {
    this.socket = new WebSocket(url, {
      handshakeTimeout: connectWithin * options.secondMs,
      maxPayload: maxFrameBytes,
    });
    this.watchdog = this.expectFrameWithin(connectWithin + welcomeWithin);
    this.socket.on('message', (data) => this.onMessage(data as Buffer)); // Safe cast: the binary type is the default.
    this.socket.on('error', ({ message }) => (this.failure ??= message)); // `close` follows, and reports the failure
    this.ended = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        this.onClose(code, reason.toString());
        resolve();
      });
    });
  }

  /** When the last frame arrived, in milliseconds since 1970. Without any frame, when the link was opened. */
  get since(): number {
    return this.lastFrameAt;
  }

  /** Closes the connection. Still receives frames in transit. */
  end(reason?: string): void {
    this.failure ??= reason;
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => this.socket.terminate(), closeWithin * this.options.secondMs);
    this.socket.close(1000);
  }

  private onMessage(data: Buffer): void {
    this.lastFrameAt = Date.now();
    // While the socket closes, the watchdog limits the close, and frames in transit must not extend it.
    const isOpen = this.socket.readyState === WebSocket.OPEN;
    if (isOpen) this.watchdog.refresh();
    const frame = this.read(data);
    if (isOpen && frame?.kind === 'welcome') {
      clearTimeout(this.watchdog);
      this.watchdog = this.expectFrameWithin(frame.session.keepAliveMs / 1_000 + keepAliveMargin);
    }
    if (frame) this.listener.onFrame(frame);
  }

  private read(data: Buffer): SocketFrame | undefined {
    try {
      return inbound.readFrame(data);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.options.failures.warn('ignored a malformed frame from the platform', { err: error });
      return undefined;
    }
  }

  private expectFrameWithin(seconds: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.failure = `no frame for ${seconds} s`;
      this.socket.terminate();
    }, seconds * this.options.secondMs);
  }

  private onClose(code: number, text: string): void {
    clearTimeout(this.watchdog);
    const hasCode = !codesWithoutMeaning.includes(code);
    const reason = text || (hasCode && inbound.closeReasons[code]) || this.failure || 'connection closed';
    this.listener.onEnded({ code: hasCode ? code : null, reason, since: this.lastFrameAt });
  }
}
