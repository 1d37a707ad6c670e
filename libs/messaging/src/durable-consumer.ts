import {
  AckPolicy,
  jetstream,
  JetStreamApiError,
  jetstreamManager,
  type Consumer,
  type ConsumerConfig,
  type ConsumerMessages,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { durableConsumers, eventsStreamName } from '@stream-events/contracts';
import {
  FailureLog,
  WorkerLoop,
  within,
  type Logger,
  type Registry,
  type Tracing,
} from '@stream-events/service';
import { batchesOf } from './message-batches.js';
import { ConsumedMessages } from './message-metrics.js';
import { readTrace, tracingOf } from './message-traces.js';
import { isStreamNotFound } from './stream-not-found.js';

/** A message as a handler sees it. The handler returns an outcome instead of acknowledging the message. */
export type DeliveredMessage = Pick<JsMsg, 'data' | 'headers' | 'info' | 'seq' | 'string' | 'subject'>;

/**
 * The outcome of handling a message.
 *
 * | outcome                   | acknowledgement | the broker                               |
 * |---------------------------|-----------------|------------------------------------------|
 * | `done`                    | ack             | is finished with the message             |
 * | `discard`                 | term            | never delivers it again                  |
 * | `retry`, thrown error     | nak with delay  | delivers it again, later each time       |
 * | none (process died)       | none            | delivers it again after 30 s             |
 */
export type Outcome = 'done' | 'discard' | 'retry';

/** Handles messages one by one, as they arrive. */
export interface MessageHandling {
  /** The maximum number of messages that are handled concurrently. With 1, messages are handled in the order of the stream. */
  maxInFlight: number;
  handle(message: DeliveredMessage): Promise<Outcome>;
}

/** Handles messages in batches of up to 100 messages and 2 MiB, collected for at most 0.5 s. */
export interface BatchHandling {
  /**
   * Returns the outcome of each message, in the order of the messages. When this method throws, the consumer retries every message in the
   * batch. When it throws or every outcome is `retry`, the database is probably unavailable, so the consumer pauses, longer each time.
   */
  handleBatch(messages: readonly DeliveredMessage[]): Promise<readonly Outcome[]>;
}

type Batches = AsyncGenerator<JsMsg[], undefined>;

/** What a durable consumer reads, and how it handles messages. */
export interface DurableConsumerOptions {
  stream: string;
  /** The durable name. Instances that use the same name share the messages. */
  name: string;
  config?: Partial<ConsumerConfig>;
  handling: MessageHandling | BatchHandling;
  /** The longest delay before a redelivery, in milliseconds. The first delay is 0.5 s, and each further delay is twice as long. */
  maxRetryDelayMs: number;
  /**
   * True when the stream is a work queue and this is its only consumer. The consumer then also gets messages that a crash of the broker
   * brought back to the stream.
   */
  isWorkQueue?: boolean;
  /**
   * Creates or updates the stream. Without this callback, the consumer waits until another service creates the stream.
   *
   * @returns false when the stream does not exist and should not be created; the consumer checks again after a minute
   */
  prepareStream?: () => Promise<boolean>;
  /** How long a fetch waits for messages, in milliseconds; at most 60,000. */
  fetchMs?: number;
  /** Called after a fetch that found no message. */
  onIdle?: () => Promise<void>;
  /** The registry for the metrics that count messages. */
  metrics?: Registry;
}

// The broker redelivers a message that is not acknowledged within this time. A handler is faster: it usually runs for milliseconds, and for
// at most 12 s (the time limit of a query).
const ackWaitMs = 30_000;
const maxMessages = 100;
// How long a fetch waits for messages. When the broker is silent for as long, the client ends the fetch and drops messages that arrive later.
const defaultFetchMs = 5_000;
const minRetryDelayMs = 500;
const maxPauseMs = 5_000;
const absentStreamPauseMs = 60_000;
const requestLimitMs = 5_000;
// The broker's code for a consumer of this name with another configuration. Adding an identical consumer succeeds.
const consumerExists = 10_148;
// How long a stop waits for handlers, which normally take milliseconds. If the database hangs, the consumer stops after this time, and the
// broker redelivers the message to another instance.
const stopLimitMs = 3_000;

/**
 * Reads a stream through a durable consumer that all instances of a service share, and turns the outcome of each message
 * into its acknowledgement. Survives restarts of the broker. Recreates the consumer when the consumer or its stream was
 * deleted. A new consumer gets every message that is on the stream.
 *
 * ```
 *              ┌──────────────── acknowledge ◀── outcome ────────────┐
 *              ▼                                                     │
 *  prepare ▶ fetch ── messages ──────────────────────────────────▶ handle
 *     ▲        │ none: does the consumer still exist?                │ batch failed
 *     └────────┴──────── pause 0.5 s, 1 s … 5 s ◀── broker away ◀────┘
 * ```
 */
export class DurableConsumer {
  private readonly loop: WorkerLoop;
  private readonly failureLog: FailureLog;
  private readonly inFlight = new Set<Promise<void>>();
  private readonly consumed: ConsumedMessages | undefined;
  private readonly tracing: Tracing | undefined;
  private consumer: Consumer | undefined;
  /**
   * The fetch of batches in progress. It outlives a failed batch: ending it early could drop messages that are on their way, which the broker
   * redelivers only after `ackWaitMs`.
   */
  private unfinished: { fetching: ConsumerMessages; batches: Batches } | undefined;
  private state: 'consuming' | 'waiting for the stream' | 'failing' = 'consuming';

  constructor(
    private readonly connection: NatsConnection,
    private readonly options: DurableConsumerOptions,
    private readonly logger: Logger,
  ) {
    this.failureLog = new FailureLog(logger);
    const { stream, name: consumer, metrics } = options;
    this.consumed = metrics && new ConsumedMessages(metrics, { stream, consumer });
    this.tracing = tracingOf(connection);
    this.loop = new WorkerLoop({
      work: (stopping) => this.work(stopping),
      idleMs: absentStreamPauseMs,
      maxBackoffMs: maxPauseMs,
      onFailure: (error) => this.onFailure(error),
    });
  }

  start(): void {
    this.loop.start();
  }

  /**
   * Stops fetching, and waits up to 3 s for the messages in progress. The broker immediately delivers the other fetched messages to another
   * instance and, after 30 s, also the messages whose handling did not finish.
   */
  async stop(): Promise<void> {
    await within(
      stopLimitMs,
      this.loop.stop().then(() => this.giveBack()),
    );
  }

  /**
   * Returns the number of messages that the consumer has not delivered yet, which is the same on every instance.
   *
   * @throws when the broker does not respond, or the consumer does not exist
   */
  async countPending(): Promise<number> {
    const { consumers } = await this.manage();
    return (await consumers.info(this.options.stream, this.options.name)).num_pending;
  }

  /** Fetches once. Returns false when `prepareStream` found that the stream should not exist. */
  private async work(stopping: AbortSignal): Promise<boolean> {
    try {
      this.consumer ??= await this.prepare();
      if (!this.consumer) return false;
      const isContinued = this.unfinished !== undefined;
      let count = await this.fetch(this.consumer, stopping);
      // The end of a fetch whose batch has failed is no success.
      if (isContinued && count === 0 && !stopping.aborted) count = await this.fetch(this.consumer, stopping);
      if (count === 0 && !stopping.aborted) await this.onEmptyFetch(this.consumer);
    } catch (error) {
      const wasPrepared = this.consumer !== undefined;
      this.consumer = undefined;
      // This service owns the stream and has deleted it. The next `prepare` recreates the stream, or finds that the service no
      // longer needs it.
      if (wasPrepared && this.options.prepareStream && isStreamNotFound(error)) return true;
      throw error;
    }
    if (this.state !== 'consuming') this.logger.info(this.fields, 'consuming the stream again');
    this.state = 'consuming';
    return true;
  }

  private async prepare(): Promise<Consumer | undefined> {
    const { stream, name, config, prepareStream } = this.options;
    if (prepareStream && !(await prepareStream())) return undefined;
    const { consumers } = await this.manage();
    const wanted = { ack_wait: nanos(ackWaitMs), ...config };
    try {
      await consumers.add(stream, { ...wanted, durable_name: name, ack_policy: AckPolicy.Explicit });
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== consumerExists) throw error;
      // An earlier version, or a server with other limits, has created the consumer with another configuration.
      await consumers.update(stream, name, wanted);
    }
    return jetstream(this.connection).consumers.get(stream, name);
  }

  /** Handles the messages of one fetch and returns their number. */
  private async fetch(consumer: Consumer, stopping: AbortSignal): Promise<number> {
    const { handling } = this.options;
    // Do not set `max_bytes`: in a cluster, nats-server 2.15 reports that a fetch with this limit is complete before its messages arrive.
    // The client treats this as an error and drops the messages, and the broker redelivers them after `ackWaitMs`. Events have at most 256
    // KiB, so `maxMessages` of them fit into the server's buffer for one client (64 MiB).
    const { fetchMs = defaultFetchMs } = this.options;
    const fetching =
      this.unfinished?.fetching ?? (await consumer.fetch({ max_messages: maxMessages, expires: fetchMs }));
    let wake: (() => void) | undefined;
    const stopped = new Promise<void>((resolve) => (wake = resolve));
    const end = (): void => {
      drain(fetching);
      wake?.();
    };
    stopping.addEventListener('abort', end);
    if (stopping.aborted) end();
    try {
      return await ('handleBatch' in handling
        ? this.handleBatches(fetching, handling, stopping)
        : this.handleEach(fetching, handling, { stopping, stopped }));
    } finally {
      stopping.removeEventListener('abort', end);
    }
  }

  private async handleEach(
    fetching: ConsumerMessages,
    handling: MessageHandling,
    { stopping, stopped }: { stopping: AbortSignal; stopped: Promise<void> },
  ): Promise<number> {
    let count = 0;
    try {
      for await (const message of fetching) {
        count += 1;
        if (stopping.aborted) {
          this.acknowledge(message, 'retry', 0);
          continue;
        }
        const handled = this.handleOne(message, handling).finally(() => this.inFlight.delete(handled));
        this.inFlight.add(handled);
        // After `stop`, do not wait for slow handlers: the connection may be closed before they end.
        if (this.inFlight.size >= handling.maxInFlight) await Promise.race([...this.inFlight, stopped]);
      }
    } catch (error) {
      // Ignore the error of a fetch that had messages: when handlers take longer than the fetch, the client reports missing heartbeats. All
      // messages that arrived have been handled. Any other error occurs again at the next fetch.
      if (count === 0) throw error;
    } finally {
      await Promise.all(this.inFlight);
    }
    return count;
  }

  private async handleOne(message: JsMsg, handling: MessageHandling): Promise<void> {
    let outcome: Outcome = 'retry';
    const startedAt = performance.now();
    const parent = this.tracing && readTrace(message);
    const span = parent && this.tracing.start(`handle ${this.options.name}`, { kind: 'consumer', parent });
    try {
      outcome = await handling.handle(message);
      span?.end({ attributes: { outcome } });
    } catch (err) {
      span?.end({ error: err });
      const { subject, seq: sequence } = message;
      this.failureLog.warn('cannot handle a message, retrying later', {
        ...this.fields,
        err,
        subject,
        sequence,
      });
    }
    this.consumed?.noteDuration(startedAt);
    this.consumed?.note(outcome);
    this.acknowledge(message, outcome);
  }

  /** @throws when every message of a batch must be retried. The next call continues with the same fetch. */
  private async handleBatches(
    fetching: ConsumerMessages,
    handling: BatchHandling,
    stopping: AbortSignal,
  ): Promise<number> {
    const { batches } = (this.unfinished ??= { fetching, batches: batchesOf(fetching) });
    let count = 0;
    for (;;) {
      const { value: batch } = await this.nextBatch(batches);
      if (!batch) return count;
      count += batch.length;
      if (stopping.aborted) for (const message of batch) this.acknowledge(message, 'retry', 0);
      else await this.handleOneBatch(batch, handling);
    }
  }

  private async nextBatch(batches: Batches): Promise<IteratorResult<JsMsg[], undefined>> {
    try {
      const next = await batches.next();
      if (next.done) this.unfinished = undefined;
      return next;
    } catch (error) {
      this.unfinished = undefined;
      throw error;
    }
  }

  /** Gives back the messages of a fetch that a failed batch has left unfinished. */
  private async giveBack(): Promise<void> {
    if (!this.unfinished) return;
    const { fetching, batches } = this.unfinished;
    drain(fetching);
    for await (const batch of batches) for (const message of batch) this.acknowledge(message, 'retry', 0);
  }

  /** @throws when every message of the batch must be retried */
  private async handleOneBatch(messages: readonly JsMsg[], handling: BatchHandling): Promise<void> {
    let outcomes: readonly Outcome[] = [];
    const startedAt = performance.now();
    try {
      outcomes = await handling.handleBatch(messages);
    } finally {
      this.consumed?.noteDuration(startedAt);
      messages.forEach((message, index) => {
        const outcome = outcomes[index] ?? 'retry';
        this.consumed?.note(outcome);
        this.acknowledge(message, outcome);
      });
    }
    if (outcomes.every((outcome) => outcome === 'retry'))
      throw new Error('every message of a batch failed, retrying');
  }

  private acknowledge(message: JsMsg, outcome: Outcome, retryInMs = this.retryDelayMs(message)): void {
    try {
      switch (outcome) {
        case 'done':
          return message.ack();
        case 'discard':
          return message.term();
        case 'retry':
          return message.nak(retryInMs);
      }
    } catch (err) {
      // The connection is being closed. The broker delivers the message to another instance.
      this.failureLog.warn('cannot acknowledge a message, the broker will redeliver it', {
        ...this.fields,
        err,
      });
    }
  }

  /** The delay before a redelivery: 0.5 s after the first delivery, and twice as long after each further delivery. */
  private retryDelayMs({ info }: JsMsg): number {
    return Math.min(minRetryDelayMs * 2 ** (info.deliveryCount - 1), this.options.maxRetryDelayMs);
  }

  private async onEmptyFetch(consumer: Consumer): Promise<void> {
    await this.options.onIdle?.();
    if (this.options.isWorkQueue) await this.redeliverForgotten();
    // A fetch is also empty when the consumer was deleted. In that case, `info` throws.
    else await consumer.info();
  }

  /**
   * Deletes the consumer when the stream still holds acknowledged messages, so that the next consumer gets them again. nats-server 2.9
   * writes the removal of a message from a work queue to disk late. After a crash, acknowledged messages are therefore on the stream again,
   * and the old consumer never delivers them.
   */
  private async redeliverForgotten(): Promise<void> {
    const { stream, name } = this.options;
    const { consumers, streams } = await this.manage();
    if ((await streams.info(stream)).state.messages === 0) return;
    // Read the acknowledgement floor before the state of the stream. Every message up to the floor was then acknowledged before the state
    // was read.
    const { ack_floor } = await consumers.info(stream, name);
    const { state } = await streams.info(stream);
    if (state.messages === 0 || state.first_seq > ack_floor.stream_seq) return;
    await consumers.delete(stream, name);
    this.consumer = undefined;
  }

  private manage(): Promise<JetStreamManager> {
    return jetstreamManager(this.connection, { checkAPI: false, timeout: requestLimitMs });
  }

  /** Logs only the first failure of an outage. */
  private onFailure(err: unknown): void {
    const state = isStreamNotFound(err) ? 'waiting for the stream' : 'failing';
    if (state === this.state) return;
    this.state = state;
    // A missing stream is not a failure: the service that creates the stream may start later.
    if (state === 'waiting for the stream')
      this.logger.info(this.fields, 'stream does not exist, waiting for it');
    else this.logger.warn({ ...this.fields, err }, 'cannot read the stream or handle its messages, retrying');
  }

  private get fields() {
    return { stream: this.options.stream, consumer: this.options.name };
  }
}

/** The durable consumer of the platform's events of one type on the EVENTS stream. */
export function platformEvents(
  eventType: keyof typeof durableConsumers,
): Pick<DurableConsumerOptions, 'stream' | 'name' | 'config'> {
  return {
    stream: eventsStreamName,
    name: durableConsumers[eventType],
    config: { filter_subject: `events.platform.${eventType}.>` },
  };
}

/**
 * Ends a fetch after the messages that are already on their way. `stop` of the client would drop them, and the broker would redeliver them
 * only after `ackWaitMs`. The client drains the subscription of a fetch when it drains its whole connection, but offers no method for it.
 */
function drain(fetching: ConsumerMessages): void {
  const { sub } = fetching as ConsumerMessages & { sub: Subscription };
  sub.drain().catch(() => fetching.stop()); // the fetch has ended, or the connection is closed
}
