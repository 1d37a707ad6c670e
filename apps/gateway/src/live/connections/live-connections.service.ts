import { Injectable, Optional } from '@nestjs/common';
import { ServiceError, type LiveControl, type LiveReport, type LiveTarget } from '@stream-events/contracts';
import { Registry } from '@stream-events/service';
import type { Caller } from '../../access/caller.js';
import { ConcurrencyLimit } from '../../access/concurrency-limit.js';
import type { EndedToken } from '../../access/token-lookup.service.js';
import { EventFeed, type Interruption } from '../stream/event-feed.service.js';
import { EventHistory } from '../stream/event-history.service.js';
import { FanOut } from './fan-out.js';
import { ConnectionMetrics } from './connection-metrics.js';
import { ConnectionReports, type ReportedClient } from './connection-reports.js';
import { LiveConnection, type Closing, type LiveRequest } from './live-connection.js';
import type { LiveEvent } from '../stream/live-event.js';
import type { LiveSink } from './live-sink.js';
import { catchUpLimits, connectionLimits, keepAliveMs, type ConnectionLimits } from '../live-limits.js';
import { CatchUpHistory } from './catch-up-history.js';

export interface LiveClient extends ReportedClient {
  /** Called when the connection is accepted. */
  makeSink(): LiveSink;
}

/** The live connections of this process. */
@Injectable()
export class LiveConnections {
  private readonly connections = new Map<LiveConnection, Caller>();
  private readonly reports = new ConnectionReports();
  private readonly fanOut: FanOut;
  private readonly metrics: ConnectionMetrics;
  private readonly keepAliveTimer: NodeJS.Timeout;
  private readonly places: ConcurrencyLimit;
  private readonly catchUps = new ConcurrencyLimit(catchUpLimits.perUser);
  private isStopped = false;

  constructor(
    private readonly feed: EventFeed,
    private readonly history: EventHistory,
    registry: Registry,
    @Optional() private readonly limits: ConnectionLimits = connectionLimits,
  ) {
    this.places = new ConcurrencyLimit(limits.perUser);
    this.metrics = new ConnectionMetrics(this.connections, this.catchUps.counts, registry);
    this.fanOut = new FanOut(
      (count) => this.metrics.noteDelivered(count),
      (receivedAt) => this.metrics.noteFlushed(receivedAt),
    );
    feed.listen({
      onEvent: (event) => this.fanOut.publish(event),
      onInterrupted: (interruption) => this.interrupt(interruption),
    });
    // The program that prints the API description creates this service too. unref() lets that program exit.
    this.keepAliveTimer = setInterval(() => this.keepAlive(), keepAliveMs).unref();
  }

  /** The stamps of all tokens with open connections, without duplicates. */
  get tokenStamps(): string[] {
    return [...new Set([...this.connections.values()].map(({ token }) => token.stamp))];
  }

  /** Describes the connections, for the system status. */
  report(): LiveReport {
    return this.reports.read();
  }

  /**
   * Opens a connection and starts to deliver events.
   *
   * @throws ServiceError `too_many_requests` if the user has too many connections; `unavailable` if the process has too many connections or
   * is stopping
   */
  open(request: LiveRequest, client: LiveClient): LiveConnection {
    if (this.isStopped) throw restarting();
    if (this.connections.size >= this.limits.connections) throw fullGateway();
    const release = this.places.take(client.caller, tooManyConnections);
    try {
      return this.begin(request, client, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  private begin(request: LiveRequest, client: LiveClient, release: () => void): LiveConnection {
    const { caller } = client;
    const limited = { ...request, filter: { ...request.filter, limits: caller.token.limits } };
    const connection = new LiveConnection(limited, client.makeSink(), {
      feed: this.feed,
      history: new CatchUpHistory(this.history, caller, this.catchUps, catchUpLimits),
      fanOut: this.fanOut,
      onClosed: (closed, closing) => {
        release();
        this.onClosed(closed, closing);
      },
    });
    this.connections.set(connection, caller);
    this.reports.add(connection, client);
    void connection.start();
    return connection;
  }

  /** Sends a replay to all connections, or only to the connections with the given name. */
  replay(event: LiveEvent, name?: string): void {
    for (const connection of this.connections.keys())
      if (name === undefined || connection.request.name === name) this.replayTo(connection, event);
  }

  /** Sends rehearsal events to the target's connections, each at its own pace. Returns how many connections the events were sent to. */
  async rehearse(target: LiveTarget, events: readonly LiveEvent[]): Promise<number> {
    const outcomes = await Promise.all(
      this.named(target).map(async (connection) => {
        if (!(await connection.hasRead())) return false;
        for (const event of events) this.replayTo(connection, event);
        return true;
      }),
    );
    return outcomes.filter((isSent) => isSent).length;
  }

  /** Sends a control to the target connections that have asked for controls. Returns how many connections the control was sent to. */
  control(target: LiveTarget, control: LiveControl): number {
    return this.named(target).filter((connection) => connection.control(control)).length;
  }

  /**
   * Closes connections whose token has ended, or has other rights now. After a change of rights, the client can reconnect with the same
   * token.
   */
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

  private named({ userId, name }: LiveTarget): LiveConnection[] {
    const found = [...this.connections].filter(
      ([{ request }, caller]) => caller.id === userId && request.name === name,
    );
    return found.map(([connection]) => connection);
  }

  private replayTo(connection: LiveConnection, event: LiveEvent): void {
    const result = connection.replay(event);
    if (result !== 'filtered out') this.metrics.noteReplayed(result);
  }

  private interrupt(interruption: Interruption): void {
    // Send pending events first, because they precede the interruption.
    this.fanOut.flush();
    for (const connection of this.connections.keys()) connection.interrupt(interruption);
  }

  private keepAlive(): void {
    const { head } = this.feed;
    if (!head) return;
    // Send pending events first: a keep-alive tells the client that it has received everything up to the position.
    this.fanOut.flush();
    for (const connection of this.connections.keys()) connection.keepAlive(head);
  }

  private onClosed(connection: LiveConnection, closing: Closing): void {
    this.connections.delete(connection);
    this.reports.close(connection, closing);
    this.metrics.noteClosed(closing.reason);
  }
}

function tooManyConnections(payer: string, max: number): ServiceError {
  // Keep this text short: it must fit in the close frame of a WebSocket.
  return new ServiceError(
    'too_many_requests',
    `This ${payer} has ${max} live connections at this gateway, the maximum. Close one, or retry in 10 s.`,
    { retryAfterSeconds: 10 },
  );
}

export function restarting(): ServiceError {
  return new ServiceError('unavailable', 'The service is restarting. Try again in a few seconds.');
}

function fullGateway(): ServiceError {
  return new ServiceError('unavailable', 'This gateway has too many live connections. Try again later.', {
    retryAfterSeconds: 10,
  });
}
