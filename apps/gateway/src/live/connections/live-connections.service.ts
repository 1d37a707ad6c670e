import { Injectable, Optional } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { Counter, Gauge, Registry } from '@stream-events/service';
import type { Caller } from '../../access/caller.js';
import type { EndedToken } from '../../access/token-lookup.service.js';
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
  caller: Caller;
  /** Creates the sink, once the connection is accepted. */
  makeSink(): LiveSink;
}

/** The live connections of this process. */
@Injectable()
export class LiveConnections {
  private readonly connections = new Map<LiveConnection, Caller>();
  private readonly perUser = new Map<string, number>();
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

  /** The stamps of the tokens of all connections, each once. */
  get tokenStamps(): string[] {
    return [...new Set([...this.connections.values()].map(({ token }) => token.stamp))];
  }

  /**
   * Opens a connection and starts to deliver.
   *
   * @throws ServiceError `too_many_requests` if the user has too many connections; `unavailable` if the process has too many
   * or is stopping
   */
  open(request: LiveRequest, client: LiveClient): LiveConnection {
    const { caller } = client;
    this.refuseTooMany(caller);
    const limited = { ...request, filter: { ...request.filter, limits: caller.token.limits } };
    const connection = new LiveConnection(limited, client.makeSink(), {
      feed: this.feed,
      history: this.history,
      fanOut: this.fanOut,
      onClosed: (closed, reason) => this.onClosed(closed, reason),
    });
    this.connections.set(connection, caller);
    this.perUser.set(caller.id, (this.perUser.get(caller.id) ?? 0) + 1);
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

  /** Closes the connections of these tokens. A client whose token has other rights now can reconnect with it. */
  closeTokens(ended: readonly EndedToken[]): void {
    const endedByStamp = new Map(ended.map((token) => [token.stamp, token]));
    for (const [connection, { token }] of this.connections) {
      const found = endedByStamp.get(token.stamp);
      if (found?.isChanged)
        connection.close('shutting_down', 'the rights of the token have changed: reconnect');
      else if (found) connection.close('unauthenticated');
    }
  }

  /** Closes all connections and rejects new ones. */
  stop(): void {
    this.isStopped = true;
    clearInterval(this.keepAliveTimer);
    this.fanOut.flush();
    for (const connection of this.connections.keys()) connection.close('shutting_down');
  }

  private refuseTooMany({ id }: Caller): void {
    if (this.isStopped)
      throw new ServiceError('unavailable', 'The service is restarting. Try again in a few seconds.');
    if (this.connections.size >= this.limits.connections)
      throw new ServiceError('unavailable', 'This gateway has too many live connections. Try again later.');
    const { perUser } = this.limits;
    if ((this.perUser.get(id) ?? 0) < perUser) return;
    throw new ServiceError(
      'too_many_requests',
      `This user has reached the maximum of ${perUser} live connections. Close a connection.`,
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
    const caller = this.connections.get(connection);
    if (!caller || !this.connections.delete(connection)) return;
    const left = (this.perUser.get(caller.id) ?? 1) - 1;
    if (left > 0) this.perUser.set(caller.id, left);
    else this.perUser.delete(caller.id);
    this.closedTotal.inc({ reason });
  }
}
