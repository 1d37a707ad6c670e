import type { DeliveryFinding } from './check-deliveries.js';
import type { ClientCounts, ClientPlan } from './resuming-client.js';
import type { EventFields } from './test-events.js';

/** An event on the stream, as far as clients can be judged by it. */
export interface StreamEvent extends EventFields {
  sequence: number;
  event: number;
  check: number;
}

/** The epochs of the stream in order, each with what was seen on it; of the last one that is everything. */
export type StreamHistory = readonly { epoch: string; events: readonly StreamEvent[] }[];

/** What a process of clients is told to do with all of a group. */
export type FleetCommand =
  | { kind: 'open'; group: string; plans: readonly ClientPlan[] }
  /** They leave, and know where they were. */
  | { kind: 'close'; group: string }
  | { kind: 'reopen'; group: string }
  | { kind: 'read'; group: string; isReading: boolean }
  | { kind: 'count'; group: string }
  | { kind: 'judge'; group: string; history: StreamHistory }
  | { kind: 'drop'; group: string };

/** What was counted since the last time. */
export interface FleetCounts extends ClientCounts {
  clients: number;
  connected: number;
  /** Those that know where they stand. */
  positioned: number;
  /** Milliseconds from sending to receiving; 0 when nothing was received. */
  latencyMs: { p50: number; p99: number; max: number };
}

/** What was counted over several times. */
export function totalOf(all: readonly FleetCounts[]): Omit<ClientCounts, 'lastReceivedAt'> {
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

/** How many clients of a group had something to find, and what; at most some of it. */
export interface Judgement {
  clients: number;
  found: number;
  /** How many of each kind. */
  kinds: Record<string, number>;
  examples: (DeliveryFinding & { filter: string })[];
}

function addTo(sum: Record<string, number>, counts: Record<string, number>): void {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
}
