import type { DeliveryFinding } from './check-deliveries.js';
import type { ClientPlan, ResumingCounts } from './resuming-client.js';
import type { EventFields } from './test-events.js';

/** An event on the stream. The test compares the deliveries to clients with these events. */
export interface StreamEvent extends EventFields {
  sequence: number;
  event: number;
  check: number;
}

/** The epochs of the stream in order, each with the events that the test read. The list of the last epoch is complete. */
export type StreamHistory = readonly { epoch: string; events: readonly StreamEvent[] }[];

/** Clients that only count. They connect to one port and do not reconnect. */
export interface CountingPlan {
  port: number;
  path: string;
  /** The first message of each client. Each message starts one client. */
  firstMessages: readonly string[];
  /** Measures the latency of every n-th message only, because reading the time costs more than all other work. 0: measures no latency. */
  sampleEvery: number;
  /** Whether to report progress as soon as all clients have an event, instead of every 10 ms. */
  isLockstep: boolean;
}

/** A command to the process of the fleet. Each command names a group and gets one reply. */
export type FleetCommand = { group: string } & (
  | { kind: 'open-resuming'; plans: readonly ClientPlan[] }
  | { kind: 'open-counting'; plan: CountingPlan }
  /** The clients disconnect and keep their positions. */
  | { kind: 'close' }
  | { kind: 'reopen' }
  | { kind: 'set-reading'; isReading: boolean }
  | { kind: 'count' }
  | { kind: 'judge'; history: StreamHistory }
  /** The clients disconnect and are removed. */
  | { kind: 'drop' }
);

/** A message from the fleet's process: the reply to a command, or the progress of a counting group. */
export type FleetMessage =
  | { id: number; result: unknown }
  | { group: string; /** Events that the slowest connected client has received. */ slowest: number };

/** The counts of a group of clients. `received` and `latencyMs` count from the previous `count` command. */
export interface DeliveryCounts {
  clients: number;
  connected: number;
  /** Connections that have ended since the group was opened. */
  ended: number;
  seconds: number;
  received: number;
  /** The time from sending to receiving; 0 when nothing was measured. */
  latencyMs: { p50: number; p99: number; max: number };
}

/** Additional counts of a group of resuming clients. */
export interface FleetCounts extends Omit<DeliveryCounts, 'ended' | 'seconds'>, ResumingCounts {
  /** The number of clients that have a position to resume from. */
  positioned: number;
}

/** A group of clients in the process of the fleet. */
export interface ClientGroup {
  close(): void;
  takeCounts(): DeliveryCounts | FleetCounts;
}

/** Returns the sum of several counts. */
export function totalOf(all: readonly FleetCounts[]): Omit<ResumingCounts, 'lastReceivedAt'> {
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

/** The result of comparing the clients of a group with the stream. */
export interface Judgement {
  clients: number;
  /** Clients with at least one finding. */
  found: number;
  /** Findings by kind. */
  kinds: Record<string, number>;
  /** Some of the findings. */
  examples: (DeliveryFinding & { filter: string })[];
}

function addTo(sum: Record<string, number>, counts: Record<string, number>): void {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
}
