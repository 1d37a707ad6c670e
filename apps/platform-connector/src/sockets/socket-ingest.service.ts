import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { ServiceError, type EventWithColumns } from '@stream-events/contracts';
import { generateId, PlatformIngest, type PlatformIngestOutcome } from '@stream-events/ingest';
import { inbound, toPlatformEvent, type SocketMessage } from '@stream-events/platforms';
import { FailureLog, LOGGER, Registry, within, type Counter, type Logger } from '@stream-events/service';
import type { DeliverySource } from './delivery-gaps.repository.js';
import { DeliveryGaps } from './delivery-gaps.service.js';
import { connectorMetrics } from '../metrics.js';

type Result = PlatformIngestOutcome | 'ignored' | 'bad_message' | 'lost';

interface OpenMessage {
  event: EventWithColumns;
  source: DeliverySource;
  arrivedAt: number;
}

export interface SocketQueueOptions {
  messages: number;
  /** How many characters of event data. Each takes one byte, or two if the event contains a character outside Latin-1. */
  characters: number;
  /** How long a stopping connector waits for all messages to be stored. */
  stopMs: number;
}

/** Injection token for limits that replace the defaults, for tests. */
export const SOCKET_QUEUE_OPTIONS = Symbol('SOCKET_QUEUE_OPTIONS');

// Enough for an outage of a minute: at 200 messages per second, 12,000 messages of about 1 KiB arrive.
const defaultOptions: SocketQueueOptions = {
  messages: 20_000,
  characters: 32 * 1024 * 1024,
  stopMs: 5_000,
};
// Maximum number of messages that are being stored at the same time: three batches of 256 in flight, and one batch that is collecting.
const maxRunning = 1_024;
// How often to try one message while both the event store and the INGEST stream are unavailable.
const probeMs = 500;
// Maximum number of attempts to store a message when the error is not an outage. The message itself is then probably the cause.
const maxErrors = 3;

/**
 * Stores messages from sockets in the event store or, while it is unavailable, in the INGEST stream (with `INGEST_FALLBACK=on`). While
 * neither takes messages, keeps them in a queue, because a socket cannot refuse them. Messages that do not fit into the queue are lost, and
 * reported as a gap.
 *
 * ```
 *  received ─▶ queue ─▶ stored, or on INGEST
 *     │          ▲│
 *     │          └┘ neither is available: one message at a time probes
 *     └─▶ lost: the queue is full, the connector stops, or the message fails for another reason 3 times
 * ```
 *
 * The queue is in memory. If the connector is killed, the queue is lost, and the connector that takes over reports a gap since
 * `settledUntil`. A message that arrives twice is stored once, because the event store remembers the platform's message ids.
 */
@Injectable()
export class SocketIngest {
  private readonly failures: FailureLog;
  private readonly messagesTotal: Counter<'result'>;
  /** All messages that are neither stored nor lost yet, in order of arrival. */
  private readonly open = new Set<OpenMessage>();
  private openCharacters = 0;
  private readonly waiting: OpenMessage[] = [];
  /** Messages to retry, before those in `waiting`. */
  private readonly again: OpenMessage[] = [];
  private running = 0;
  private probes = 0;
  private probeTimer: NodeJS.Timeout | undefined;
  private onEmpty: (() => void) | undefined;
  private isStopped = false;

  constructor(
    private readonly ingest: PlatformIngest,
    private readonly gaps: DeliveryGaps,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
    @Optional() @Inject(SOCKET_QUEUE_OPTIONS) private readonly limits: SocketQueueOptions = defaultOptions,
  ) {
    this.failures = new FailureLog(logger);
    this.messagesTotal = connectorMetrics.platform_connector_socket_messages_total.create(metrics);
    connectorMetrics.platform_connector_socket_messages_waiting.create(metrics, (gauge) =>
      gauge.set(this.open.size),
    );
  }

  /** Adds a message to the queue. Never throws or waits. */
  accept(message: SocketMessage, source: DeliverySource): void {
    const event = this.read(message);
    if (!event) return;
    const entry = { event, source, arrivedAt: Date.now() };
    const isFull =
      this.open.size >= this.limits.messages ||
      this.openCharacters + event.eventData.length > this.limits.characters;
    if (isFull || this.isStopped) {
      const reason = isFull
        ? 'Neither the event store nor the INGEST stream was available, and the connector’s queue was full.'
        : 'The connector was stopping.';
      this.lose(entry, reason);
      return;
    }
    this.open.add(entry);
    this.openCharacters += event.eventData.length;
    this.waiting.push(entry);
    this.pump();
  }

  /** Returns a time in milliseconds since 1970. Every message from the source that arrived before this time is already stored or lost. */
  settledUntil({ transport, source }: DeliverySource): number {
    for (const entry of this.open)
      if (entry.source.transport === transport && entry.source.source === source) return entry.arrivedAt;
    return Date.now();
  }

  /** Waits up to 5 s until all messages are stored; the rest are lost. Stop the sockets before you call this. */
  async stop(): Promise<void> {
    const isEmpty = new Promise<void>((resolve) => {
      this.onEmpty = resolve;
      if (this.open.size === 0) resolve();
    });
    await within(this.limits.stopMs, isEmpty);
    this.isStopped = true;
    clearTimeout(this.probeTimer);
    for (const entry of [...this.open])
      this.end(entry, () => this.lose(entry, 'The connector stopped before the messages were stored.'));
  }

  private read(message: SocketMessage): EventWithColumns | undefined {
    try {
      const content = inbound.readContent(message.type, message.content);
      if (content.kind === 'notification' || content.kind === 'revocation')
        return toPlatformEvent(content, {
          id: generateId(),
          messageId: message.id,
          occurredAt: message.sentAt,
        });
      this.failures.warn('ignored a platform message of an unknown type', { type: message.type });
      this.messagesTotal.inc({ result: 'ignored' });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.failures.warn('cannot read a platform message, dropping it', {
        err: error,
        messageId: message.id,
      });
      this.messagesTotal.inc({ result: 'bad_message' });
    }
    return undefined;
  }

  private pump(): void {
    while (this.running < maxRunning && this.probeTimer === undefined && this.startNext());
  }

  private startNext(first = this.again, second = this.waiting): boolean {
    const entry = first.shift() ?? second.shift();
    if (entry) void this.handOver(entry);
    return entry !== undefined;
  }

  private async handOver(entry: OpenMessage): Promise<void> {
    this.running += 1;
    const result = await this.store(entry);
    this.running -= 1;
    // `stop` has already counted this message as lost.
    if (!this.open.has(entry)) return;
    if (result === 'unavailable') {
      this.again.push(entry);
      this.probeTimer ??= setTimeout(() => this.probe(), probeMs);
      return;
    }
    this.end(entry, () => {
      if (result === 'lost') this.lose(entry, 'The event store failed to store the message.');
      else this.count(result);
    });
    if (result !== 'lost') this.stopProbing();
    this.pump();
  }

  private async store({
    event,
    source,
  }: OpenMessage): Promise<PlatformIngestOutcome | 'unavailable' | 'lost'> {
    for (let errors = 1; ; errors += 1) {
      try {
        return await this.ingest.store(event, source.transport);
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'unavailable') {
          this.failures.warn('cannot store platform messages, keeping them in memory and retrying', {
            err: error,
          });
          return 'unavailable';
        }
        const isLast = errors >= maxErrors;
        this.failures.warn(
          isLast ? 'cannot store a platform message, giving up' : 'cannot store a platform message, retrying',
          { err: error, messageId: event.eventId, attempt: errors },
        );
        if (isLast) return 'lost';
        await wait(probeMs);
      }
    }
  }

  private probe(): void {
    this.probeTimer = setTimeout(() => this.probe(), probeMs);
    if (this.running > 0) return;
    this.probes += 1;
    // Try another message with every second probe, because the store may fail only for some messages.
    const hasStarted = this.probes % 2 === 1 ? this.startNext() : this.startNext(this.waiting, this.again);
    if (!hasStarted) this.stopProbing();
  }

  private stopProbing(): void {
    clearTimeout(this.probeTimer);
    this.probeTimer = undefined;
  }

  private end(entry: OpenMessage, act: () => void): void {
    this.open.delete(entry);
    this.openCharacters -= entry.event.eventData.length;
    act();
    if (this.open.size === 0) this.onEmpty?.();
  }

  private lose({ source, arrivedAt }: OpenMessage, reason: string): void {
    this.count('lost');
    this.gaps.addLost(source, arrivedAt, reason);
  }

  private count(result: Result): void {
    this.messagesTotal.inc({ result });
  }
}
