import { Inject, Injectable } from '@nestjs/common';
import type { LiveControl, LiveReport, LiveTarget } from '@stream-events/contracts';
import { Registry } from '@stream-events/service';
import type { Caller } from '../../access/caller.js';
import { endedTokenError, TokenLookup, type EndedToken } from '../../access/token-lookup.service.js';
import { EventFeed, type Interruption } from '../stream/event-feed.service.js';
import { EventHistory } from '../stream/event-history.service.js';
import { FanOut } from './fan-out.js';
import { ConnectionMetrics } from './connection-metrics.js';
import { ConnectionReports, type ReportedClient } from './connection-reports.js';
import { LiveConnection, type Closing, type LiveRequest } from './live-connection.js';
import type { LiveEvent } from '../stream/live-event.js';
import type { LiveSink } from './live-sink.js';
import { keepAliveMs } from '../live-limits.js';
import { CatchUpHistory } from '../usage/catch-up-history.js';
import { CatchUps } from '../usage/catch-ups.js';
import { ConnectionPlaces } from '../usage/connection-places.js';

// How often to look for users with too many connections. Gateways learn of each other's connections within a second. An excess that is
// found twice in a row is therefore real, and connections are closed.
const excessCheckMs = 2_000;

export interface LiveClient extends ReportedClient {
  /** Whether the client left while it waited. */
  isGone(): boolean;
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
  private readonly excessTimer: NodeJS.Timeout;

  constructor(
    private readonly feed: EventFeed,
    private readonly history: EventHistory,
    registry: Registry,
    private readonly places: ConnectionPlaces,
    private readonly catchUps: CatchUps,
    @Inject(TokenLookup) private readonly tokens: Pick<TokenLookup, 'findEnded'>,
  ) {
    this.metrics = new ConnectionMetrics(this.connections, registry);
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
    this.excessTimer = setInterval(() => this.closeExcess(), excessCheckMs).unref();
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
   * Opens a connection and starts to deliver events. Waits up to 6 s if the user has too many connections at all gateways together. Returns
   * undefined if the client has left by then.
   *
   * @throws ServiceError `too_many_requests` if the user has too many connections; `unavailable` if the process has too many connections or
   * is stopping, or if the rights of the token changed during the wait; `unauthenticated` if the token ended during the wait
   */
  async open(request: LiveRequest, client: LiveClient): Promise<LiveConnection | undefined> {
    const { caller } = client;
    const hasWaited = await this.places.take(caller);
    try {
      if (hasWaited) await this.checkAgain(caller);
      if (!client.isGone()) return this.begin(request, client);
    } catch (error) {
      this.places.release(caller);
      throw error;
    }
    this.places.release(caller);
    return undefined;
  }

  /** Repeats checks after the wait for a place: the token may have ended, or the process may be stopping. */
  private async checkAgain({ token }: Caller): Promise<void> {
    const [ended] = await this.tokens.findEnded([token.stamp]);
    if (ended) throw endedTokenError(ended);
    this.places.refuseIfStopped();
  }

  private begin(request: LiveRequest, client: LiveClient): LiveConnection {
    const { caller } = client;
    const limited = { ...request, filter: { ...request.filter, limits: caller.token.limits } };
    const connection = new LiveConnection(limited, client.makeSink(), {
      feed: this.feed,
      history: new CatchUpHistory(this.history, this.catchUps, caller),
      fanOut: this.fanOut,
      onClosed: (closed, closing) => this.onClosed(closed, closing),
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
    this.places.stop();
    clearInterval(this.keepAliveTimer);
    clearInterval(this.excessTimer);
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

  /** Closes the newest connections of users who exceed the limit across all gateways. */
  private closeExcess(): void {
    const excess = this.places.findExcess();
    if (excess.size === 0) return;
    for (const [connection, { id }] of [...this.connections].reverse()) {
      const count = excess.get(id) ?? 0;
      if (count === 0) continue;
      excess.set(id, count - 1);
      connection.close('too_many');
    }
  }

  private keepAlive(): void {
    const { head } = this.feed;
    if (!head) return;
    // Send pending events first: a keep-alive tells the client that it has received everything up to the position.
    this.fanOut.flush();
    for (const connection of this.connections.keys()) connection.keepAlive(head);
  }

  private onClosed(connection: LiveConnection, closing: Closing): void {
    const caller = this.connections.get(connection);
    if (!caller || !this.connections.delete(connection)) return;
    this.reports.close(connection, closing);
    this.places.release(caller);
    this.metrics.noteClosed(closing.reason);
  }
}
