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

/** The client of a new connection. */
export interface LiveClient {
  /** SHA-256 of the client's token, in hexadecimal digits. */
  tokenHash: string;
  /** Creates the sink, once the connection is accepted. */
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
      help: 'Events that were sent live, counted once per client',
      registers: [metrics],
    });
    this.replayedTotal = new Counter({
      name: 'live_replays_total',
      help: 'Replayed events, counted once per client: sent, or dropped because the client was too slow',
      labelNames: ['result'],
      registers: [metrics],
    });
    this.closedTotal = new Counter({
      name: 'live_connections_closed_total',
      help: 'Live connections that ended, by reason; left: closed by the client',
      labelNames: ['reason'],
      registers: [metrics],
    });
    const { connections } = this;
    new Gauge({
      name: 'live_connections',
      help: 'Open live connections',
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
    // unref(): the program that prints the API description creates this service too, and must be able to exit.
    this.keepAliveTimer = setInterval(() => this.keepAlive(), keepAliveMs).unref();
  }

  /** The hashes of the tokens of all connections, each once. */
  get tokenHashes(): string[] {
    return [...this.perToken.keys()];
  }

  /**
   * Opens a connection and starts to deliver.
   *
   * @throws ServiceError `too_many_requests` if the token has too many connections; `unavailable` if the process has too many
   * or is stopping
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

  /** Sends a replay to all connections, or to those with a name. */
  replay(event: LiveEvent, name?: string): void {
    for (const connection of this.connections.keys()) {
      if (name !== undefined && connection.request.name !== name) continue;
      const result = connection.replay(event);
      if (result !== 'filtered out') this.replayedTotal.inc({ result });
    }
  }

  /** Closes the connections of these tokens. */
  closeTokens(tokenHashes: ReadonlySet<string>): void {
    for (const [connection, tokenHash] of this.connections)
      if (tokenHashes.has(tokenHash)) connection.close('unauthenticated');
  }

  /** Closes all connections and rejects new ones. */
  stop(): void {
    this.isStopped = true;
    clearInterval(this.keepAliveTimer);
    this.fanOut.flush();
    for (const connection of this.connections.keys()) connection.close('shutting_down');
  }

  private refuseTooMany(tokenHash: string): void {
    if (this.isStopped)
      throw new ServiceError('unavailable', 'The service is restarting. Try again in a few seconds.');
    if (this.connections.size >= this.limits.connections)
      throw new ServiceError('unavailable', 'This gateway has too many live connections. Try again later.');
    const { perToken } = this.limits;
    if ((this.perToken.get(tokenHash) ?? 0) < perToken) return;
    throw new ServiceError(
      'too_many_requests',
      `This token has reached the maximum of ${perToken} live connections. Close a connection or use another token.`,
      { retryAfterSeconds: 10 },
    );
  }

  private interrupt(interruption: Interruption): void {
    // Send pending events first, because they precede the interruption.
    this.fanOut.flush();
    for (const connection of this.connections.keys()) connection.interrupt(interruption);
  }

  private keepAlive(): void {
    const { head } = this.feed;
    if (!head) return;
    // Send pending events first, because the position of a keep-alive covers everything before it.
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
