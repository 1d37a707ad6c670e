import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceProcess } from '@stream-events/testing';
import { waitFor } from '../measure/progress.js';
import { nextMarker } from '../fleet/test-events.js';
import { LedgerEntry } from './ledger.js';
import { recoveryLimitMs } from './store-reader.js';

/** An event on the platform. Times are in milliseconds since 1970. */
export interface Occurrence {
  entry: LedgerEntry;
  /** Whose gaps excuse a loss: `shard 3`, or `user 77`. */
  source: string;
  sentAt: number;
  /** When the platform had certainly sent the message. */
  passedAt: number;
}

/** A reported gap: events from this source may be missing in this period. Times are in milliseconds since 1970. */
export interface Gap {
  source: string;
  from: number;
  until: number;
}

export interface OccurrenceOptions {
  /** For example `channel.update`. */
  type: string;
  /** The event without its marker and channel. */
  makeFields: (sequence: number) => object;
  channels: readonly string[];
  perSecond: number;
  /** Each client waits for its reply, so a busy machine gets fewer events instead of a growing queue. */
  clients: number;
  /** Makes an event happen on the simulated platform. Returns the message's source. Rejects if the simulator refuses. */
  happen: (type: string, event: Record<string, unknown>) => Promise<string>;
}

/** Makes events happen at a steady rate, rotating through the channels. */
export class Occurrences {
  readonly all: Occurrence[] = [];
  private readonly running: Promise<unknown>;
  private isStopped = false;

  constructor(private readonly options: OccurrenceOptions) {
    this.running = Promise.all(Array.from({ length: options.clients }, (_, index) => this.runClient(index)));
  }

  /** Stops, and waits until the platform has sent every message. Throws if the simulator has refused a request. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  private async runClient(index: number): Promise<void> {
    const { clients, perSecond } = this.options;
    const intervalMs = (clients / perSecond) * 1_000;
    await wait((index / clients) * intervalMs);
    while (!this.isStopped) {
      const startedAt = performance.now();
      await this.makeNext();
      await wait(Math.max(0, intervalMs - (performance.now() - startedAt)));
    }
  }

  private async makeNext(): Promise<void> {
    const { type, makeFields, channels, happen } = this.options;
    const { marker, sequence } = nextMarker();
    const channel = channels[sequence % channels.length] ?? '';
    const event = { marker, broadcaster_user_id: channel, ...makeFields(sequence) };
    const eventType = type.replaceAll('.', '-');
    const sent = { marker, kind: 'notification', eventType, eventData: JSON.stringify(event) } as const;
    const sentAt = Date.now();
    const source = await happen(type, event);
    this.all.push({ entry: new LedgerEntry(sent), source, sentAt, passedAt: Date.now() });
  }
}

/** Whether a gap covers an occurrence. Such an event may be missing, but must not be stored twice. */
export function isReported({ source, sentAt, passedAt }: Occurrence, gaps: readonly Gap[]): boolean {
  return gaps.some((gap) => gap.source === source && passedAt >= gap.from && sentAt <= gap.until);
}

/** Tells the ledger which events must be stored. */
export function noteOutcomes(occurrences: readonly Occurrence[], gaps: readonly Gap[]): void {
  for (const occurrence of occurrences) {
    const answer = isReported(occurrence, gaps) ? ({ kind: 'timeout' } as const) : accepted;
    occurrence.entry.note(answer);
  }
}

const accepted = { kind: 'accepted', id: undefined } as const;

/** Resolves when connectors have stored every message that they have received. */
export async function untilNothingWaits(connectors: readonly ServiceProcess[]): Promise<void> {
  const isDone = async (): Promise<true | undefined> => {
    const metric = 'platform_connector_socket_messages_waiting';
    const counts = await Promise.all(connectors.map((connector) => connector.metric(metric)));
    return counts.every((count) => count === 0) || undefined;
  };
  if (!(await waitFor(isDone, { limitMs: recoveryLimitMs, everyMs: 200 })))
    throw new Error(`messages still wait in a connector after ${recoveryLimitMs / 1_000} s`);
}
