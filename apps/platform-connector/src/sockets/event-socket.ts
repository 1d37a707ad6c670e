import type { SocketMessage, SocketSession } from '@stream-events/platforms';
import { FailureLog, within, type Logger } from '@stream-events/service';
import { SocketLink, type LinkEnd } from './socket-link.js';

/** Receives the events of an `EventSocket`. The socket may call the other methods before `welcomed` resolves. */
export interface EventSocketListener {
  /**
   * Reports a new session: the first one, or one after a loss. Subscriptions or a shard must use the session within 10 s, or the platform
   * closes it. If this method rejects, the socket closes the session and opens another.
   *
   * Not called after a reconnect that the platform requested: the session then keeps its subscriptions or its shard.
   */
  welcomed(session: SocketSession): Promise<void>;
  /**
   * Receives a notification or a revocation. Must not throw. Messages arrive in order, but a message may arrive twice during a reconnect.
   */
  received(message: SocketMessage): void;
  /**
   * Reports the loss of the session. Messages may be missing after `since` (the arrival of the last frame, in milliseconds since 1970) and
   * until the next `welcomed` resolves. The socket reconnects on its own. Not called after `stop`.
   */
  lost(loss: { code: number | null; reason: string; since: number }): void;
}

export interface EventSocketOptions {
  logger: Logger;
  /** The socket's name in log lines. */
  name: string;
  /** How long a second lasts, in milliseconds. Tests shorten it. */
  secondMs?: number;
}

// In seconds. The first attempt follows within a quarter of a second after a loss.
const minBackoff = 0.25;
const maxBackoff = 30;
// In seconds. A session that lasts this long shows that the platform works, so it resets the backoff.
const provenAfter = 60;
// The platform's close code for a client that has sent a message. Sending one is a bug in this service, so an operator must see the code.
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
 * After each close, the old session is gone. The socket then connects to the base URL again, with backoff and jitter.
 */
export class EventSocket {
  private readonly secondMs: number;
  private readonly failures: FailureLog;
  private readonly links = new Set<SocketLink>();
  /** The link that carries the session. Its loss ends the session. */
  private link: SocketLink | undefined;
  /** The link that replaces `link` after its welcome. */
  private successor: SocketLink | undefined;
  private welcomedSession: SocketSession | null = null;
  private welcomedAt = 0;
  private attempts = 0;
  /** The URL of a reconnect that the platform requested. It works once, and only while the platform waits for the reconnect. */
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

  /** The session's id; null without a session. A reconnect can change the id without calling `welcomed`. */
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
    // Ignore a welcome on a link that was already replaced, or a second welcome on the same link.
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

  /** Opens the new link. The old link stays open until the new one gets its welcome, so that no message is missed. */
  private onReconnect(link: SocketLink, url: string): void {
    if (link !== this.link || this.successor || this.isStopped) return;
    this.reconnectUrl = url;
    try {
      this.successor = this.open(url);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      // Do not log the URL: anyone who has it can take over the session. The platform closes the old link after 30 s, and the socket then
      // opens a new session.
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
    // Without a close code, try again: the platform did not get the connection request, and still waits for one, up to 30 s after it
    // requested the reconnect. A close code means that the URL was already used.
    else if (end.code === null) this.later(() => this.onReconnect(link, reconnectUrl));
  }

  private onLinkEnded(end: LinkEnd): void {
    const socket = this.options.name;
    this.link = undefined;
    clearTimeout(this.timer);
    // The second link may still get its welcome. Its session then counts as new, because messages may be missing since the first link was
    // lost.
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
    // The jitter spreads the attempts: the platform may have closed many clients' sockets at the same time.
    this.timer = setTimeout(act, seconds * (0.5 + Math.random() / 2) * this.secondMs);
  }
}
