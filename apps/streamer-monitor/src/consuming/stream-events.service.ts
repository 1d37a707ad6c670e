import { Inject, Injectable } from '@nestjs/common';
import type { JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { isContentError, isUnavailableError } from '@stream-events/database';
import { within } from '@stream-events/messaging';
import {
  Counter,
  FailureLog,
  Gauge,
  LOGGER,
  Registry,
  WorkerLoop,
  type Logger,
} from '@stream-events/service';
import { StreamRecorder } from '../streams/stream-recorder.service.js';
import { EventsConsumer, StreamMissingError } from './events-consumer.js';
import { parseStreamMessage, streamEventTypes, UnreadableEventError } from './stream-event.external.js';

/** Injection token of the connection that events are read on. */
export const EVENTS_CONNECTION = Symbol('EVENTS_CONNECTION');

// A transaction each: more of them would leave no connection to the database for requests.
const maxInProgress = 3;
const maxBackoffMs = 5_000;
// Redelivered so soon after a failure, and later each time.
const minRedeliveryMs = 500;
const maxRedeliveryMs = 30_000;
// An event takes milliseconds; when the database hangs, it is left to the next instance.
const stopLimitMs = 3_000;

type Outcome = 'applied' | 'ignored' | 'unreadable' | 'failed';

/**
 * Records what events say about streams. Idempotent by the ids of stream and event: a message is acknowledged after the commit,
 * and may come twice.
 *
 * ```
 *  message ──▶ read ──▶ record ──committed──▶ acknowledged   (applied; ignored: not monitored, or not said by the platform)
 *               │         │ database away, any other failure
 *               │         └──▶ handed back: again in 0.5 s, 1 s … 30 s   (failed)
 *               └── makes no sense, or the database refuses its content ──▶ terminated   (unreadable)
 * ```
 */
@Injectable()
export class StreamEventsService {
  private readonly eventsTotal: Counter;
  private readonly failureLog: FailureLog;
  private readonly loops: WorkerLoop[];
  private isWaitingForStream = false;

  constructor(
    @Inject(EVENTS_CONNECTION) connection: NatsConnection,
    private readonly recorder: StreamRecorder,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.failureLog = new FailureLog(logger);
    this.eventsTotal = new Counter({
      name: 'streamer_monitor_events_total',
      help: 'Events about streams, by type and by what became of them',
      labelNames: ['event_type', 'outcome'],
      registers: [metrics],
    });
    const consumers = streamEventTypes.map((eventType) => new EventsConsumer(connection, eventType));
    measureWaiting(consumers, metrics);
    this.loops = consumers.map((consumer, index) => this.createLoop(consumer, streamEventTypes[index] ?? ''));
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  /** Finishes what is in progress (for 3 s at most) and stops; what is not acknowledged comes to another instance. */
  async stop(): Promise<void> {
    await within(stopLimitMs, Promise.all(this.loops.map((loop) => loop.stop())));
  }

  private createLoop(consumer: EventsConsumer, eventType: string): WorkerLoop {
    const inProgress = new Set<Promise<void>>();
    const onMessage = async (message: JsMsg): Promise<void> => {
      const handling = this.handle(message, eventType).finally(() => inProgress.delete(handling));
      inProgress.add(handling);
      if (inProgress.size >= maxInProgress) await Promise.race(inProgress);
    };
    const work = async (stopping: AbortSignal): Promise<boolean> => {
      const came = await consumer.fetch(onMessage, stopping).finally(() => Promise.all(inProgress));
      if (this.isWaitingForStream) this.logger.info('the EVENTS stream is there');
      this.isWaitingForStream = false;
      return came;
    };
    return new WorkerLoop({ work, idleMs: 0, maxBackoffMs, onFailure: (error) => this.onFailure(error) });
  }

  private async handle(message: JsMsg, eventType: string): Promise<void> {
    const outcome = await this.record(message);
    this.eventsTotal.inc({ event_type: eventType, outcome });
    try {
      settle(message, outcome);
    } catch (error) {
      // The broker delivers it again, to another instance.
      this.failureLog.warn('an event could not be acknowledged', { err: error });
    }
  }

  private async record(message: JsMsg): Promise<Outcome> {
    try {
      const event = parseStreamMessage(message);
      return event && (await this.recorder.recordEvent(event)) ? 'applied' : 'ignored';
    } catch (error) {
      const details = { err: error, subject: message.subject, sequence: message.seq };
      if (error instanceof UnreadableEventError || isContentError(error)) {
        this.logger.error(details, 'an event about a stream makes no sense and is left out');
        return 'unreadable';
      }
      const what = isUnavailableError(error) ? 'the database is away' : 'it failed';
      this.failureLog.warn(`an event could not be recorded, as ${what}: it is tried again`, details);
      return 'failed';
    }
  }

  /** Without a stream there is nothing to warn of: the events service makes it when it starts. */
  private onFailure(error: unknown): void {
    if (!(error instanceof StreamMissingError)) {
      this.failureLog.warn('events cannot be read: it is tried again until they can', { err: error });
      return;
    }
    if (!this.isWaitingForStream) this.logger.info('waiting for the EVENTS stream');
    this.isWaitingForStream = true;
  }
}

function settle(message: JsMsg, outcome: Outcome): void {
  switch (outcome) {
    case 'applied':
    case 'ignored':
      return message.ack();
    case 'unreadable':
      return message.term();
    case 'failed': {
      const delayMs = minRedeliveryMs * 2 ** Math.min(message.info.deliveryCount - 1, 10);
      return message.nak(Math.min(delayMs, maxRedeliveryMs));
    }
  }
}

/** Says how many events have not been looked at yet; nothing while the broker is away. */
function measureWaiting(consumers: readonly EventsConsumer[], metrics: Registry): void {
  new Gauge({
    name: 'streamer_monitor_events_waiting',
    help: 'Events about streams that are on the stream and not yet read; every instance tells the same number',
    registers: [metrics],
    async collect() {
      const counts = await Promise.all(
        consumers.map((consumer) => consumer.countWaiting().catch(() => Number.NaN)),
      );
      this.set(counts.reduce((sum, count) => sum + count, 0));
    },
  });
}
