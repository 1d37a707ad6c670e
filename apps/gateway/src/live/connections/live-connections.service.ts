import { Injectable, Optional } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { Counter, Gauge, Registry } from '@stream-events/service';
import { EventFeed, type Interruption } from '../stream/event-feed.service.js';
import { EventHistory } from '../stream/event-history.service.js';
import { FanOut } from './fan-out.js';
import { LiveConnection, type LiveRequest } from './live-connection.js';
import type { LiveEvent } from '../stream/live-event.js';
import type { LiveSink } from './live-sink.js';
import type { CloseReason } from '../close-codes.js';
import { type ConnectionLimits, connectionLimits, keepAliveMs } from '../live-limits.js';

/** Who connects. */
export interface LiveClient {
  /** SHA-256 of its token, in hexadecimal digits. */
  tokenHash: string;
  /** Makes the client's end, once it is let in. */
  makeSink(): LiveSink;
}

/** The live connections of this process. */
@Injectable()
export class LiveConnections {
  private readonly connections = new Map<LiveConnection, string>();
  private readonly perToken = new Map<string, number>();
  private readonly fanOut: FanOut;
  private readonly replayedTotal: Counter<'result'>;
  private readonly closedTotal: Counter<'reason'>;
  private isStopped = false;
  private readonly keepAliveTimer: NodeJS.Timeout;

  constructor(
    private readonly feed: EventFeed,
    private readonly history: EventHistory,
    metrics: Registry,
    @Optional() private readonly limits: ConnectionLimits = connectionLimits,
  ) {
    const deliveredTotal = new Counter({
      name: 'live_events_delivered_total',
      help: 'Events that were sent to live clients as they came, each counted for each client',
      registers: [metrics],
    });
    this.replayedTotal = new Counter({
      name: 'live_replays_total',
      help: 'Events that went out to live clients once more, each counted for each client: sent, or dropped as it was slow',
      labelNames: ['result'],
      registers: [metrics],
    });
    this.closedTotal = new Counter({
      name: 'live_connections_closed_total',
      help: 'Live connections that ended, by reason; left: by the client',
      labelNames: ['reason'],
      registers: [metrics],
    });
    const { connections } = this;
    new Gauge({
      name: 'live_connections',
      help: 'Live connections',
      registers: [metrics],
      collect() {
        this.set(connections.size);
      },
    });
    this.fanOut = new FanOut((count) => deliveredTotal.inc(count));
    feed.listen({
      onEvent: (event) => this.fanOut.publish(event),
      onInterrupted: (interruption) => this.interrupt(interruption),
    });
    // What only describes the API makes this, too, and is not to be kept from ending.
    this.keepAliveTimer = setInterval(() => this.keepAlive(), keepAliveMs).unref();
  }

  /** The tokens of all connections, each once. */
  get tokenHashes(): string[] {
    return [...this.perToken.keys()];
  }

  /**
   * Lets a client in, and begins to deliver.
   *
   * @throws ServiceError `too_many_requests` when its token has too many connections; `unavailable` when the process has,
   * or stops
   */
  open(request: LiveRequest, client: LiveClient): LiveConnection {
    this.refuseTooMany(client.tokenHash);
    const connection = new LiveConnection(request, client.makeSink(), {
      feed: this.feed,
      history: this.history,
      fanOut: this.fanOut,
      onClosed: (closed, reason) => this.onClosed(closed, reason),
    });
    this.connections.set(connection, client.tokenHash);
    this.perToken.set(client.tokenHash, (this.perToken.get(client.tokenHash) ?? 0) + 1);
    void connection.start();
    return connection;
  }

  /** Delivers an event once more: to all connections, or to those of a name. */
  replay(event: LiveEvent, name?: string): void {
    for (const connection of this.connections.keys()) {
      if (name !== undefined && connection.request.name !== name) continue;
      const result = connection.replay(event);
      if (result !== 'not wanted') this.replayedTotal.inc({ result });
    }
  }

  /** Ends the connections of tokens that are valid no more. */
  closeTokens(tokenHashes: ReadonlySet<string>): void {
    for (const [connection, tokenHash] of this.connections)
      if (tokenHashes.has(tokenHash)) connection.close('unauthenticated');
  }

  /** Ends all connections, and lets nobody in any more. */
  stop(): void {
    this.isStopped = true;
    clearInterval(this.keepAliveTimer);
    this.fanOut.flush();
    for (const connection of this.connections.keys()) connection.close('shutting_down');
  }

  private refuseTooMany(tokenHash: string): void {
    if (this.isStopped) throw new ServiceError('unavailable', 'The service restarts. Try again soon.');
    if (this.connections.size >= this.limits.connections)
      throw new ServiceError('unavailable', 'Too many live connections. Try again soon.');
    const { perToken } = this.limits;
    if ((this.perToken.get(tokenHash) ?? 0) < perToken) return;
    throw new ServiceError(
      'too_many_requests',
      `This token has ${perToken} live connections, which is the most. Close some, or use another token.`,
      { retryAfterSeconds: 10 },
    );
  }

  private interrupt(interruption: Interruption): void {
    // What was published before goes out before.
    this.fanOut.flush();
    for (const connection of this.connections.keys()) connection.interrupt(interruption);
  }

  private keepAlive(): void {
    const { head } = this.feed;
    if (!head) return;
    // Positions say what was sent: nothing may wait that lies before them.
    this.fanOut.flush();
    for (const connection of this.connections.keys()) connection.keepAlive(head);
  }

  private onClosed(connection: LiveConnection, reason: CloseReason | 'left'): void {
    const tokenHash = this.connections.get(connection);
    if (tokenHash === undefined || !this.connections.delete(connection)) return;
    const left = (this.perToken.get(tokenHash) ?? 1) - 1;
    if (left > 0) this.perToken.set(tokenHash, left);
    else this.perToken.delete(tokenHash);
    this.closedTotal.inc({ reason });
  }
}
