import type { DeliveryFinding } from './check-deliveries.js';
import type { ResumingCounts } from './resuming-client.js';
import type { EventFields } from './test-events.js';

/** An event on the stream, to compare with the deliveries. */
export interface StreamEvent extends EventFields {
  sequence: number;
  event: number;
  check: number;
}

/** The epochs of the stream, in order, with the events that the test has read. The last epoch is complete. */
export type StreamHistory = readonly { epoch: string; events: readonly StreamEvent[] }[];

/** Clients that only count. They share a port and do not reconnect. */
export interface CountingPlan {
  port: number;
  path: string;
  /** One first message per client. */
  firstMessages: readonly string[];
  /** Measures the latency of every n-th message; 0 measures none. Reading the clock is the most expensive work of a client. */
  sampleEvery: number;
}

/** A call of a group's method, or `open` with the group's plan. Each gets one reply. */
export interface FleetCall {
  id: number;
  group: string;
  kind: 'resuming' | 'counting';
  method: string;
  args: readonly unknown[];
}

/** The reply to a call, or the progress of a counting group. */
export type FleetMessage =
  | { id: number; result: unknown }
  | { group: string; /** Events that the slowest connected client has received. */ slowest: number };

/** `received` and `latencyMs` count since the last `takeCounts`. */
export interface DeliveryCounts {
  clients: number;
  connected: number;
  /** Connections that have ended since the group was opened. */
  ended: number;
  seconds: number;
  received: number;
  /** From sending to receiving; 0 if nothing was measured. */
  latencyMs: { p50: number; p99: number; max: number };
}

export interface FleetCounts extends Omit<DeliveryCounts, 'ended' | 'seconds'>, ResumingCounts {
  /** Clients that have a position to resume from. */
  positioned: number;
}

/** Adds up the counts of several reports. */
export function totalOf(all: readonly FleetCounts[]): ResumingCounts {
  const total = { received: 0, connections: 0, gaps: {}, endings: {}, strange: [] as string[] };
  for (const { received, connections, gaps, endings, strange } of all) {
    total.received += received;
    total.connections += connections;
    addTo(total.gaps, gaps);
    addTo(total.endings, endings);
    total.strange.push(...strange);
  }
  return total;
}

/** The result of comparing a group's deliveries with the stream. */
export interface Judgement {
  clients: number;
  /** Clients with at least one finding. */
  found: number;
  /** Findings by kind. */
  kinds: Record<string, number>;
  examples: (DeliveryFinding & { filter: string })[];
}

function addTo(sum: Record<string, number>, counts: Record<string, number>): void {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
}
