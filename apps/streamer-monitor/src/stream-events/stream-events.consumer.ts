import { Inject, Injectable } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import { isContentError } from '@stream-events/database';
import {
  DurableConsumer,
  EVENTS_CONNECTION,
  platformEvents,
  type DeliveredMessage,
  type Outcome,
} from '@stream-events/messaging';
import {
  FailureLog,
  LOGGER,
  readForGauge,
  Registry,
  type Counter,
  type Logger,
} from '@stream-events/service';
import { StreamRecorder } from '../streams/stream-recorder.service.js';
import { parseStreamMessage, UnreadableEventError } from './stream-event.external.js';
import { monitorMetrics } from '../metrics.js';

type RecordingOutcome = 'applied' | 'ignored' | 'unreadable' | 'failed';

// Maximum number of concurrent messages. Each one needs a transaction, so more would leave too few database connections for requests.
const maxInFlight = 6;
const maxRetryDelayMs = 30_000;

const outcomes: Record<RecordingOutcome, Outcome> = {
  applied: 'done',
  ignored: 'done',
  unreadable: 'discard',
  failed: 'retry',
};

/**
 * Records stream-online and stream-offline events. Idempotent by the ids of stream and event, because a message is acknowledged only after
 * the commit and can be delivered twice.
 *
 * ```
 *  message ──▶ parse ──▶ record ──committed──▶ acknowledged   (applied; ignored: not monitored, or not from the platform)
 *                │         │ database unavailable, any other failure
 *                │         └──▶ delivered again after 0.5 s, 1 s … 30 s   (failed)
 *                └── unreadable, or the database rejects its content ──▶ discarded   (unreadable)
 * ```
 */
@Injectable()
export class StreamEventsConsumer {
  private readonly eventsTotal: Counter;
  private readonly failureLog: FailureLog;
  private readonly consumer: DurableConsumer;

  constructor(
    @Inject(EVENTS_CONNECTION) connection: NatsConnection,
    private readonly recorder: StreamRecorder,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.failureLog = new FailureLog(logger);
    this.eventsTotal = monitorMetrics.streamer_monitor_events_total.create(metrics);
    const handling = { maxInFlight, handle: (message: DeliveredMessage) => this.handle(message) };
    const events = platformEvents('streamer-monitor-streams');
    this.consumer = new DurableConsumer(
      connection,
      { ...events, handling, maxRetryDelayMs, metrics },
      logger,
    );
    measureWaiting(this.consumer, this.failureLog, metrics);
  }

  start(): void {
    this.consumer.start();
  }

  /** Waits up to 3 s for the current messages, then stops. */
  stop(): Promise<void> {
    return this.consumer.stop();
  }

  private async handle(message: DeliveredMessage): Promise<Outcome> {
    const recorded = await this.record(message);
    const [, , eventType] = message.subject.split('.');
    this.eventsTotal.inc({ event_type: eventType, outcome: recorded });
    return outcomes[recorded];
  }

  private async record(message: DeliveredMessage): Promise<RecordingOutcome> {
    try {
      const event = parseStreamMessage(message);
      return event && (await this.recorder.recordEvent(event)) ? 'applied' : 'ignored';
    } catch (error) {
      const details = { err: error, subject: message.subject, sequence: message.seq };
      if (error instanceof UnreadableEventError || isContentError(error)) {
        this.logger.error(details, 'stream event is unreadable, skipping it');
        return 'unreadable';
      }
      this.failureLog.warn('cannot record a stream event, retrying within 30 s', details);
      return 'failed';
    }
  }
}

function measureWaiting(consumer: DurableConsumer, failureLog: FailureLog, metrics: Registry): void {
  monitorMetrics.streamer_monitor_events_waiting.create(metrics, async (gauge) => {
    const count = await readForGauge(gauge, failureLog, () => consumer.countPending());
    gauge.set(count ?? Number.NaN);
  });
}
