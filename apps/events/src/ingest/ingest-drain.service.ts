import { Inject, Injectable } from '@nestjs/common';
import { ingestStreamName, type NewEvent } from '@stream-events/contracts';
import { isUnavailableError } from '@stream-events/database';
import { DurableConsumer, type DeliveredMessage, type Outcome } from '@stream-events/messaging';
import {
  FailureLog,
  LOGGER,
  readForGauge,
  Registry,
  type Counter,
  type Logger,
} from '@stream-events/service';
import { EventWriter } from '../store/event-writer.service.js';
import { IngestStream } from './ingest-stream.js';
import { readOrWrap } from '../dead-letters/unreadable-message.js';
import { eventsMetrics } from '../metrics.js';

// A batch that contains a message with more deliveries than this is stored message by message. An outage of 15 s leads to this many
// deliveries, and storing single messages once after an outage costs little.
const maxSharedTries = 5;
const maxRetryDelayMs = 5_000;
// Maximum number of unacknowledged messages: enough for twenty instances with a full batch each.
const maxAckPending = 2_000;

/**
 * Stores the messages of the INGEST stream.
 *
 * ```
 * batch ── store ──committed──▶ done (acknowledged, deleted from the stream)
 *            │ unreadable: kept as a dead letter, done
 *            └ store unavailable: every message is delivered again after 0.5 s, 1 s … 5 s
 * ```
 *
 * Idempotent by `receivedMessageKey`: a message that is delivered twice, or that was stored without a reply reaching the gateway, becomes
 * one event.
 */
@Injectable()
export class IngestDrain {
  private readonly consumer: DurableConsumer;
  private readonly drainedTotal: Counter;
  private readonly failureLog: FailureLog;

  constructor(
    stream: IngestStream,
    private readonly writer: EventWriter,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.failureLog = new FailureLog(logger);
    this.drainedTotal = eventsMetrics.events_ingest_drained_total.create(metrics);
    eventsMetrics.events_ingest_stream_messages.create(metrics, async (gauge) => {
      const count = await readForGauge(gauge, this.failureLog, () => stream.count());
      gauge.set(count ?? Number.NaN);
    });
    this.consumer = new DurableConsumer(
      stream.connection,
      {
        stream: ingestStreamName,
        name: 'drain',
        config: { max_ack_pending: maxAckPending, ...stream.consumerConfig },
        handling: { handleBatch: (messages) => this.storeBatch(messages) },
        maxRetryDelayMs,
        prepareStream: () => stream.prepare(),
        metrics,
      },
      logger,
    );
  }

  start(): void {
    this.consumer.start();
  }

  /** Finishes running batches within 3 s, then stops. The broker redelivers unacknowledged messages to other instances. */
  stop(): Promise<void> {
    return this.consumer.stop();
  }

  /** After several failures, stores each message on its own, so that one bad message does not block the others. */
  private async storeBatch(messages: readonly DeliveredMessage[]): Promise<Outcome[]> {
    const isStubborn = messages.some(({ info }) => info.deliveryCount > maxSharedTries);
    if (!isStubborn) {
      await this.store(messages);
      return messages.map(() => 'done');
    }
    const outcomes: Outcome[] = [];
    let isUnavailable = false;
    for (const message of messages) {
      // While the store is unavailable, further attempts would only time out.
      const failure = isUnavailable ? undefined : await this.tryToStore(message);
      isUnavailable ||= isUnavailableError(failure);
      outcomes.push(isUnavailable || failure !== undefined ? 'retry' : 'done');
    }
    return outcomes;
  }

  /** Returns the error when the message cannot be stored. */
  private async tryToStore(message: DeliveredMessage): Promise<unknown> {
    try {
      await this.store([message]);
      return undefined;
    } catch (err) {
      const { stream } = message.info;
      this.failureLog.warn('cannot store a diverted platform message, retrying', {
        err,
        stream,
        sequence: message.seq,
      });
      return err ?? new Error('no error');
    }
  }

  private async store(messages: readonly DeliveredMessage[]): Promise<void> {
    const events: NewEvent[] = [];
    for (const { data } of messages) {
      const { event, fault } = readOrWrap(data);
      if (fault === undefined) events.push(event);
      else await this.writer.keepAsDeadLetter(event, fault);
    }
    if (events.length > 0) await this.writer.store(events);
    this.drainedTotal.inc(messages.length);
    const stream = messages[0]?.info.stream;
    this.logger.info({ stream, messages: messages.length }, 'stored diverted platform messages');
  }
}
