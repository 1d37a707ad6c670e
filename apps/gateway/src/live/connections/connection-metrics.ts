import type { Counter, Histogram, Registry } from '@stream-events/service';
import type { Closing, LiveConnection } from './live-connection.js';
import { gatewayMetrics } from '../../metrics.js';

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
    this.deliveredTotal = gatewayMetrics.live_events_delivered_total.create(registry);
    this.replayedTotal = gatewayMetrics.live_replays_total.create(registry);
    this.closedTotal = gatewayMetrics.live_connections_closed_total.create(registry);
    this.lag = gatewayMetrics.live_delivery_lag_seconds.create(registry);
    gatewayMetrics.live_catch_ups.create(registry, (gauge) => {
      gauge.set({ state: 'running' }, catchUps.running);
      gauge.set({ state: 'waiting' }, catchUps.waiting);
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
  const lagEvents = gatewayMetrics.live_slowest_connection_lag_events.create(registry);
  const unreadBytes = gatewayMetrics.live_slowest_connection_unread_bytes.create(registry);
  gatewayMetrics.live_connections.create(registry, (gauge) => {
    let [mostEvents, mostBytes] = [0, 0];
    for (const { progress } of connections.keys()) {
      mostEvents = Math.max(mostEvents, progress.lagEvents ?? 0);
      mostBytes = Math.max(mostBytes, progress.unreadBytes);
    }
    lagEvents.set(mostEvents);
    unreadBytes.set(mostBytes);
    gauge.set(connections.size);
  });
}
