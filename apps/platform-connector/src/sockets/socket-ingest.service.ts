import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { ServiceError, type EventWithColumns } from '@stream-events/contracts';
import { generateEventId, PlatformIngest, type PlatformIngestOutcome } from '@stream-events/ingest';
import { inbound, toPlatformEvent, type SocketMessage } from '@stream-events/platforms';
import { Counter, FailureLog, Gauge, LOGGER, Registry, within, type Logger } from '@stream-events/service';
import type { DeliverySource } from './delivery-gaps.repository.js';
import { DeliveryGaps } from './delivery-gaps.service.js';

/** The socket that a message came from. */
export interface MessageSource extends DeliverySource {
  /** Names the conduit or the session, see `Delivery.via`. */
  via: string;
}

type Result = PlatformIngestOutcome | 'ignored' | 'bad_message' | 'lost';

interface OpenMessage {
  event: EventWithColumns;
  source: DeliverySource;
  arrivedAt: number;
}

/** The limits of the queue. */
export interface SocketQueueOptions {
  messages: number;
  /** Characters of event data. A character takes one byte, or two when the event has any beyond Latin-1. */
  characters: number;
  /** How long a connector that stops waits until everything is stored. */
  stopMs: number;
}

/** Injection token of other limits than the usual ones, for tests. */
export const SOCKET_QUEUE_OPTIONS = Symbol('SOCKET_QUEUE_OPTIONS');

// An outage of a minute, at 200 messages per second, has 12,000 messages of about 1 KiB.
const defaultOptions: SocketQueueOptions = {
  messages: 20_000,
  characters: 32 * 1024 * 1024,
  stopMs: 5_000,
};
// Fills three batches, which is what the events service works on at a time.
const maxRunning = 1_024;
// How often one message is tried while neither the event store nor the INGEST stream takes messages.
const probeMs = 500;
// An error other than an outage is probably about the message itself.
const maxErrors = 3;

/**
 * Hands messages of sockets to the event store, or to the INGEST stream. A socket cannot refuse a message, so the queue keeps messages
 * while neither takes them. What does not fit is lost, and reported as a gap.
 *
 * ```
 *  received ─▶ queue ─▶ stored, or on INGEST
 *     │          ▲│
 *     │          └┘ neither is available: one message at a time probes
 *     └─▶ lost: the queue is full, the connector stops, or the message fails for another reason 3 times
 * ```
 *
 * The queue is in memory. A connector that is killed loses it, so whoever takes over reports a gap from `settledUntil` on. A repeated
 * message is stored once: the store knows the platform's message ids.
 */
@Injectable()
export class SocketIngest {
  private readonly failures: FailureLog;
  private readonly messagesTotal: Counter<'result'>;
  /** Everything that is neither stored nor lost, in order of arrival. */
  private readonly open = new Set<OpenMessage>();
  private openCharacters = 0;
  private readonly waiting: OpenMessage[] = [];
  /** Messages that go again before those that wait. */
  private readonly again: OpenMessage[] = [];
  private running = 0;
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
    this.messagesTotal = new Counter({
      name: 'platform_connector_socket_messages_total',
      help: 'Messages received over sockets, by result',
      labelNames: ['result'],
      registers: [metrics],
    });
    const countOpen = (): number => this.open.size;
    new Gauge({
      name: 'platform_connector_socket_messages_waiting',
      help: 'Messages received over sockets that are not stored yet',
      registers: [metrics],
      collect() {
        this.set(countOpen());
      },
    });
  }

  /** Takes a message. Never throws, and never waits. */
  accept(message: SocketMessage, { transport, source, via }: MessageSource): void {
    const event = this.read(message, via);
    if (!event) return;
    const entry = { event, source: { transport, source }, arrivedAt: Date.now() };
    const isFull =
      this.open.size >= this.limits.messages ||
      this.openCharacters + event.eventData.length > this.limits.characters;
    if (isFull || this.isStopped) {
      const reason = isFull
        ? 'Neither the event store nor the INGEST stream took messages, and the connector’s queue was full.'
        : 'The connector was stopping.';
      this.lose(entry, reason);
      return;
    }
    this.open.add(entry);
    this.openCharacters += event.eventData.length;
    this.waiting.push(entry);
    this.pump();
  }

  /** Until when all messages of a source that had arrived are stored or lost, in milliseconds since 1970. */
  settledUntil({ transport, source }: DeliverySource): number {
    for (const entry of this.open)
      if (entry.source.transport === transport && entry.source.source === source) return entry.arrivedAt;
    return Date.now();
  }

  /** Waits until everything is stored, at most 5 s. What is left then is lost. Stop the sockets before. */
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

  private read(message: SocketMessage, via: string): EventWithColumns | undefined {
    try {
      const content = inbound.readContent(message.type, message.content);
      if (content.kind === 'notification' || content.kind === 'revocation')
        return toPlatformEvent(content, {
          id: generateEventId(),
          messageId: message.id,
          occurredAt: message.sentAt,
          via,
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

  private startNext(): boolean {
    const entry = this.again.shift() ?? this.waiting.shift();
    if (entry) void this.handOver(entry);
    return entry !== undefined;
  }

  private async handOver(entry: OpenMessage): Promise<void> {
    this.running += 1;
    const result = await this.store(entry);
    this.running -= 1;
    // `stop` has ended it.
    if (!this.open.has(entry)) return;
    if (result === 'unavailable') {
      this.again.push(entry);
      this.probeTimer ??= setTimeout(() => this.probe(), probeMs);
      return;
    }
    this.end(entry, () => {
      if (result === 'lost') this.lose(entry, 'The event store refused the messages.');
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
    if (this.running === 0 && !this.startNext()) this.stopProbing();
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
