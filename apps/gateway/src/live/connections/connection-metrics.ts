import { Counter, Gauge, Histogram, lagBuckets, type Registry } from '@stream-events/service';
import type { Closing, LiveConnection } from './live-connection.js';

/** Measures the live connections of this process. */
export class ConnectionMetrics {
  private readonly deliveredTotal: Counter;
  private readonly replayedTotal: Counter<'result'>;
  private readonly closedTotal: Counter<'reason'>;
  private readonly lag: Histogram;

  constructor(
    connections: ReadonlyMap<Pick<LiveConnection, 'progress'>, unknown>,
    catchUps: Readonly<Record<'running' | 'waiting', number>>,
    registry: Registry,
  ) {
    const registers = [registry];
    this.deliveredTotal = new Counter({
      name: 'live_events_delivered_total',
      help: 'Events that were sent live, counted once per client',
      registers,
    });
    this.replayedTotal = new Counter({
      name: 'live_replays_total',
      help: 'Replayed events, counted once per client: sent, or dropped because the client was too slow',
      labelNames: ['result'],
      registers,
    });
    this.closedTotal = new Counter({
      name: 'live_connections_closed_total',
      help: 'Live connections that ended, by reason; left: closed by the client',
      labelNames: ['reason'],
      registers,
    });
    this.lag = new Histogram({
      name: 'live_delivery_lag_seconds',
      help: 'Time from the receipt of the oldest event of an event-loop turn until it was written to the sockets of live clients',
      buckets: lagBuckets,
      registers,
    });
    new Gauge({
      name: 'live_catch_ups',
      help: 'Live connections that read older events from the EVENTS stream, or wait for their turn to do so',
      labelNames: ['state'],
      registers,
      collect() {
        this.set({ state: 'running' }, catchUps.running);
        this.set({ state: 'waiting' }, catchUps.waiting);
      },
    });
    measureConnections(connections, registry);
  }

  noteDelivered(count: number): void {
    this.deliveredTotal.inc(count);
  }

  noteReplayed(result: 'sent' | 'dropped'): void {
    this.replayedTotal.inc({ result });
  }

  noteClosed(reason: Closing['reason']): void {
    this.closedTotal.inc({ reason });
  }

  /** @param receivedAt when the oldest event of the flush was received, in milliseconds since 1970 */
  noteFlushed(receivedAt: number): void {
    // The clock of the machine that received the event may be ahead of this machine's clock.
    this.lag.observe(Math.max(0, Date.now() - receivedAt) / 1_000);
  }
}

function measureConnections(
  connections: ReadonlyMap<Pick<LiveConnection, 'progress'>, unknown>,
  registry: Registry,
): void {
  const registers = [registry];
  const lagEvents = new Gauge({
    name: 'live_slowest_connection_lag_events',
    help: 'Number of events that the slowest live connection is behind the stream',
    registers,
  });
  const unreadBytes = new Gauge({
    name: 'live_slowest_connection_unread_bytes',
    help: 'Bytes that the slowest live client has not read yet. Above a limit (1 MiB for a WebSocket), the gateway closes the connection if the client reads nothing for 10 s',
    registers,
  });
  new Gauge({
    name: 'live_connections',
    help: 'Open live connections',
    registers,
    collect() {
      let [mostEvents, mostBytes] = [0, 0];
      for (const { progress } of connections.keys()) {
        mostEvents = Math.max(mostEvents, progress.lagEvents ?? 0);
        mostBytes = Math.max(mostBytes, progress.unreadBytes);
      }
      lagEvents.set(mostEvents);
      unreadBytes.set(mostBytes);
      this.set(connections.size);
    },
  });
}
