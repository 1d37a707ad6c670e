import type { SocketMessage, SocketSession } from '@stream-events/platforms';
import { FailureLog, within, type Logger } from '@stream-events/service';
import { SocketLink, type LinkEnd } from './socket-link.js';

/** The listener of an `EventSocket`. The socket may call other methods before `welcomed` resolves. */
export interface EventSocketListener {
  /**
   * Reports a new session: the first session, or a session after a loss. Subscriptions or a shard must use the session within 10 s, or the
   * platform closes it. If this method rejects, the socket closes the session and opens another one. Not called after a reconnect that the
   * platform requested, because the session then keeps its subscriptions or its shard.
   */
  welcomed(session: SocketSession): Promise<void>;
  /** Receives a notification or revocation. Messages arrive in order; during a reconnect, a message may arrive twice. Must not throw. */
  received(message: SocketMessage): void;
  /**
   * Reports the loss of the session. Messages may be missing from `since` (when the last frame arrived, in milliseconds since 1970) until
   * the next `welcomed` resolves. The socket reconnects by itself. Not called after `stop`.
   */
  lost(loss: { code: number | null; reason: string; since: number }): void;
}

export interface EventSocketOptions {
  logger: Logger;
  /** Names the socket in log lines. */
  name: string;
  /** Length of one second in milliseconds; tests shorten it. */
  secondMs?: number;
}

// These times are in seconds. The first attempt is made within a quarter of a second after a loss.
const minBackoff = 0.25;
const maxBackoff = 30;
// A session that lasts this long shows that the platform works, and resets the backoff.
const provenAfter = 60;
// The close code when this client has sent a message, which is a fault that an operator must see.
const sentTraffic = 4001;

/**
 * Keeps a session on the platform's event socket open.
 *
 * ```
 *  start ─▶ connecting ──welcome──▶ in session ──reconnect message──▶ in session, and a second link is connecting
 *               ▲                    ▲     │                             │         │ welcome: the second link replaces the first,
 *               │ backoff            │     │ closed, silent: lost        │         │ which closes after its last frames
 *               └────────────────────│─────┘◀────────────────────────────┘◀────────┘
 *                                    └── the second link fails: try it again, while the first one works
 * ```
 *
 * The platform ends the session with every close, so the socket then opens a new connection to the base URL, with backoff and jitter.
 */
export class EventSocket {
  private readonly secondMs: number;
  private readonly failures: FailureLog;
  private readonly links = new Set<SocketLink>();
  /** The link whose loss ends the session. */
  private link: SocketLink | undefined;
  /** The link that will replace `link` when it receives a welcome. */
  private successor: SocketLink | undefined;
  private welcomedSession: SocketSession | null = null;
  private welcomedAt = 0;
  private attempts = 0;
  /** The URL of a reconnect that the platform requested. Valid once, and only while the platform waits for the reconnect. */
  private reconnectUrl = '';
  private timer: NodeJS.Timeout | undefined;
  private isStopped = true;

  constructor(
    private readonly url: string,
    private readonly listener: EventSocketListener,
    private readonly options: EventSocketOptions,
  ) {
    this.secondMs = options.secondMs ?? 1_000;
    this.failures = new FailureLog(options.logger);
  }

  /** The id of the session; null without a session. A reconnect can change the id without a call of `welcomed`. */
  get session(): string | null {
    return this.welcomedSession?.id ?? null;
  }

  /** When the last frame of the session arrived, in milliseconds since 1970; null without a session. */
  get lastFrameAt(): number | null {
    return this.welcomedSession && this.link ? this.link.since : null;
  }

  start(): void {
    this.isStopped = false;
    this.link = this.open(this.url);
  }

  /** Closes the session. Still receives messages in transit, for up to 2 s. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.welcomedSession = null;
    clearTimeout(this.timer);
    const links = [...this.links];
    for (const link of links) link.end();
    await within(3 * this.secondMs, Promise.all(links.map(({ ended }) => ended)));
  }

  private open(url: string): SocketLink {
    const { failures, secondMs } = this;
    const link: SocketLink = new SocketLink(
      url,
      {
        onFrame: (frame) => {
          if (frame.kind === 'message') this.listener.received(frame.message);
          else if (frame.kind === 'welcome') this.onWelcome(link, frame.session);
          else if (frame.kind === 'reconnect') this.onReconnect(link, frame.url);
        },
        onEnded: (end) => this.onEnded(link, end),
      },
      { failures, secondMs },
    );
    this.links.add(link);
    return link;
  }

  private onWelcome(link: SocketLink, session: SocketSession): void {
    const { name, logger } = this.options;
    if (link === this.successor && this.link) {
      const old = this.link;
      this.link = link;
      this.successor = undefined;
      this.welcomedSession = session;
      old.end();
      logger.info({ socket: name }, 'event socket reconnected at the request of the platform');
      return;
    }
    // Ignore a welcome on a link that was already replaced, and a second welcome on the same link.
    if (link !== (this.link ?? this.successor) || this.welcomedSession) return;
    this.link = link;
    this.successor = undefined;
    this.welcomedSession = session;
    this.welcomedAt = performance.now();
    this.listener.welcomed(session).then(
      () => logger.info({ socket: name }, 'event socket connected'),
      (error: unknown) => {
        if (this.isStopped) return;
        this.failures.warn('cannot start using a new event socket, closing the socket', {
          err: error,
          socket: name,
        });
        link.end('the session cannot be used');
      },
    );
  }

  /** Opens the new link. The old link stays open until the welcome on the new link, so that no message is missed. */
  private onReconnect(link: SocketLink, url: string): void {
    if (link !== this.link || this.successor || this.isStopped) return;
    this.reconnectUrl = url;
    try {
      this.successor = this.open(url);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      // Do not log the URL, because anyone who has the URL can take over the session. The platform closes the old link in 30 s; then, the
      // socket opens a new session.
      this.failures.warn(
        'the platform requested a reconnect to a malformed URL, waiting for the platform to close the socket',
        {
          socket: this.options.name,
        },
      );
    }
  }

  private onEnded(link: SocketLink, end: LinkEnd): void {
    this.links.delete(link);
    if (this.isStopped) return;
    if (link === this.successor) this.onSuccessorEnded(end);
    else if (link === this.link) this.onLinkEnded(end);
  }

  private onSuccessorEnded(end: LinkEnd): void {
    this.successor = undefined;
    this.failures.warn('cannot open the replacement for an event socket, connecting again within a minute', {
      socket: this.options.name,
      ...end,
    });
    const { link, reconnectUrl } = this;
    if (!link) this.reconnectLater();
    // Without a close code, the platform has not received the URL and waits 30 s for it, so try again. With a code, the URL was already
    // used.
    else if (end.code === null) this.later(() => this.onReconnect(link, reconnectUrl));
  }

  private onLinkEnded(end: LinkEnd): void {
    const socket = this.options.name;
    this.link = undefined;
    clearTimeout(this.timer);
    // The second link may still get a welcome. Its session then counts as new, because messages may be missing since the first link's loss.
    if (!this.successor) this.reconnectLater();
    if (!this.welcomedSession) {
      this.failures.warn('cannot connect an event socket, retrying within 30 s', { socket, ...end });
      return;
    }
    this.welcomedSession = null;
    const level = end.code === sentTraffic ? 'error' : 'warn';
    this.options.logger[level](
      { socket, ...end },
      'event socket lost, platform messages since its last frame may be missing',
    );
    this.listener.lost(end);
  }

  private reconnectLater(): void {
    this.later(() => {
      this.link = this.open(this.url);
    });
  }

  private later(act: () => void): void {
    if (this.welcomedSession && performance.now() - this.welcomedAt >= provenAfter * this.secondMs)
      this.attempts = 0;
    const seconds = Math.min(minBackoff * 2 ** this.attempts, maxBackoff);
    this.attempts += 1;
    clearTimeout(this.timer);
    // Jitter spreads the attempts, because the platform may have closed the sockets of many clients at the same time.
    this.timer = setTimeout(act, seconds * (0.5 + Math.random() / 2) * this.secondMs);
  }
}
