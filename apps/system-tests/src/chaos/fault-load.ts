import { setTimeout as wait } from 'node:timers/promises';
import type { Credentials } from '../load/request-maker.js';
import { makeSmallEvent } from '../fleet/test-events.js';
import { EventSender } from './event-sender.js';
import { LedgerEntry, type Answer, type EventKind, type SentEvent } from './ledger.js';

/** Options of `FaultLoad`. `perSecond` is the total rate of all clients. Each client alternates between the gateways. */
export interface FaultLoadOptions extends Credentials {
  gatewayUrls: readonly string[];
  perSecond: number;
  clients: number;
  /** Creates the events. Default: `makeSmallEvent`. */
  make?: () => SentEvent;
}

/** One attempt to send an event. */
export interface Try {
  gatewayUrl: string;
  kind: EventKind;
  sentAt: number;
  answer: Answer;
}

interface Retry {
  entry: LedgerEntry;
  attempt: number;
  dueAt: number;
}

// Pauses between attempts. After the last attempt, the sender gives up.
const pausesMs = [300, 1_000, 2_000, 4_000];
// Limit for events that wait for a retry. Above this limit, the sender gives up on further events.
const maxRetries = 4_000;
/**
 * Sends events like the platform and clients. Sends each attempt to the next gateway, and limits the number of attempts per event. If a
 * gateway does not listen, the attempt goes to the next one. Records the outcome of each event.
 */
export class FaultLoad {
  private readonly watchers = new Set<(seen: Try) => void>();
  private readonly senders: EventSender[];
  private readonly retries: Retry[] = [];
  private entries: LedgerEntry[] = [];
  private running: Promise<unknown> = Promise.resolve();
  private isPaused = true;

  constructor(private readonly options: FaultLoadOptions) {
    // Half of the clients open a connection per request, as the platform sometimes does.
    this.senders = Array.from(
      { length: options.clients },
      (_, index) => new EventSender(options, { connectionsEach: 1, keepAlive: index % 2 === 0 }),
    );
  }

  /** Starts sending, or resumes after `pause`. */
  start(): void {
    this.isPaused = false;
    this.running = Promise.all(this.senders.map((sender, index) => this.runClient(sender, index)));
  }

  /** Stops creating events. Resolves when every event is accepted or given up. */
  async pause(): Promise<void> {
    this.isPaused = true;
    await this.running;
  }

  /** Events created since the last call. */
  takeEntries(): LedgerEntry[] {
    return this.entries.splice(0);
  }

  /** Calls `watcher` for every attempt. The returned function removes the watcher. */
  watch(watcher: (seen: Try) => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  /** Stops sending and closes the connections. */
  async stop(): Promise<void> {
    await this.pause();
    for (const sender of this.senders) sender.close();
  }

  private async runClient(sender: EventSender, index: number): Promise<void> {
    const { clients, perSecond, gatewayUrls } = this.options;
    const intervalMs = (clients / perSecond) * 1_000;
    let gateway = index;
    await wait((index / clients) * intervalMs);
    while (!this.isPaused || this.retries.length > 0) {
      const startedAt = performance.now();
      const retry = this.takeDueRetry();
      gateway = (gateway + 1) % gatewayUrls.length;
      if (retry) await this.attempt(sender, retry, gateway);
      else if (!this.isPaused) await this.attempt(sender, this.makeFirst(), gateway);
      const restMs = intervalMs - (performance.now() - startedAt);
      // Retries do not count toward the rate. If they did, many retries would crowd out new events.
      if (!retry && restMs > 0) await wait(restMs);
    }
  }

  private makeFirst(): Retry {
    const entry = new LedgerEntry((this.options.make ?? makeSmallEvent)());
    this.entries.push(entry);
    return { entry, attempt: 0, dueAt: 0 };
  }

  private takeDueRetry(): Retry | undefined {
    const now = performance.now();
    const index = this.retries.findIndex(({ dueAt }) => dueAt <= now);
    return index < 0 ? undefined : this.retries.splice(index, 1)[0];
  }

  private async attempt(sender: EventSender, { entry, attempt }: Retry, firstGateway: number): Promise<void> {
    const { gatewayUrls } = this.options;
    let answer: Answer = { kind: 'not connected' };
    for (let offset = 0; offset < gatewayUrls.length && answer.kind === 'not connected'; offset += 1) {
      const gatewayUrl = gatewayUrls[(firstGateway + offset) % gatewayUrls.length] ?? '';
      const sentAt = performance.now();
      answer = await sender.send(entry.event, gatewayUrl, attempt);
      for (const watcher of this.watchers) watcher({ gatewayUrl, kind: entry.event.kind, sentAt, answer });
    }
    entry.note(answer);
    const pauseMs = pausesMs[attempt];
    const isOver = answer.kind === 'refused' || !entry.isOpen || pauseMs === undefined;
    if (isOver || this.retries.length >= maxRetries) return;
    this.retries.push({ entry, attempt: attempt + 1, dueAt: performance.now() + pauseMs });
  }
}
